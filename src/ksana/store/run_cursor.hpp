#pragma once

#include <string>

#include "ksana/base/uuid.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

// The cursor of a list of runs in its first order, the newest id first, that goes on after this
// run: for who takes only a part of a page.
inline std::string RunsAfter(const Uuid& id) { return MakeCursor("-id", {"0", id.ToString()}); }

}  // namespace ksana::store
