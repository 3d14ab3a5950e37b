#include "sim/sim_world.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/ids/hash.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::sim {
namespace {

// Lines of the story that are kept for a violation.
constexpr std::size_t kStoryLength = 4'000;

}  // namespace

World::World(std::uint64_t seed, TimePoint start)
    : now_(start), store_clock_(start), random_(seed) {}

void World::At(TimePoint when, Action action) {
    queue_.push({std::max(when, now_), ++order_, std::move(action)});
}

void World::RunUntil(TimePoint until) {
    while (!violation_ && !queue_.empty() && queue_.top().when <= until) {
        // top() returns a constant element, and the action is needed after pop().
        const Event event = queue_.top();
        queue_.pop();
        MoveTo(event.when);
        ++events_;
        event.action();
    }
    if (!violation_) MoveTo(until);
}

// An actor that waited inside an action may have moved time beyond `when`.
void World::MoveTo(TimePoint when) {
    if (when <= now_) return;
    store_clock_.Advance(when - now_);
    now_ = when;
}

Duration World::Between(Duration least, Duration most) {
    if (most <= least) return least;
    const auto span = static_cast<std::uint64_t>((most - least).count());
    return least + Duration(static_cast<Duration::rep>(random_.Below(span + 1)));
}

void World::Fail(Violation violation) {
    if (violation_) return;
    violation.at = now_;
    violation_ = std::move(violation);
}

void World::Note(std::string_view job_id, std::uint64_t what,
                 const std::function<std::string()>& text) {
    hash_ = MixBits(hash_ ^ what ^
                    MixBits(static_cast<std::uint64_t>(now_.time_since_epoch().count())));
    if (!story_of_ || (!job_id.empty() && job_id != *story_of_)) return;
    if (story_.size() >= kStoryLength) {
        story_.erase(story_.begin(), story_.begin() + kStoryLength / 2);
    }
    story_.push_back(fmt::format("{} {}", FormatTime(now_), text()));
}

}  // namespace ksana::sim
