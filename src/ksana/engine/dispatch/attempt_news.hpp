#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/model/run/decide.hpp"

namespace ksana::engine {

// What an executor tells about an attempt while it runs. `log` are lines as in Event::log.
struct AttemptNews {
    std::optional<std::int32_t> progress = {};
    std::string note = {};
    std::string log = {};

    bool empty() const { return !progress && note.empty() && log.empty(); }
};

// Adds later news. Of too many log lines the oldest are dropped, as the store would.
void Append(AttemptNews& news, AttemptNews more);

// Lets a renewal carry the news.
void PutInto(model::Event& renewal, const AttemptNews& news);

}  // namespace ksana::engine
