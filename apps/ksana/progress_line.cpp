#include "ksana/progress_line.hpp"

#include <fmt/core.h>

namespace ksana::app {
namespace {

constexpr std::chrono::milliseconds kPace{200};

}  // namespace

ProgressLine::~ProgressLine() {
    if (shown_) process_.redraw("");
}

void ProgressLine::Show(std::int64_t records) {
    if (!process_.redraw) return;
    const SteadyPoint now = process_.clock.SteadyNow();
    if (shown_ && now - *shown_ < kPace) return;
    shown_ = now;
    process_.redraw(fmt::format("{} {} records", verb_, records));
}

}  // namespace ksana::app
