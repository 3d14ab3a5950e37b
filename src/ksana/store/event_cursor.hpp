#pragma once

#include <cstdint>
#include <string>

#include "ksana/store/page.hpp"

namespace ksana::store {

// The cursor of an ascending list of events that goes on after the event of this number, whether it
// is (still) there or not.
inline std::string EventsAfter(std::int64_t seq) {
    return MakeCursor("seq", {"", std::to_string(seq)});
}

}  // namespace ksana::store
