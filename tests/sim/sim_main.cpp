// ksana_sim --seeds N | --seed N [--plant BUG]

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ledger_sim.hpp"

namespace {

using ksana::sim::Plant;

struct Options {
    std::uint64_t first = 1;
    std::uint64_t count = 20;
    Plant plant = Plant::kNone;
};

bool ReadNumber(std::string_view text, std::uint64_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

bool ReadPlant(std::string_view text, Plant& out) {
    static constexpr std::string_view kNames[] = {
        "none", "lost_fire", "double_fire", "missing_fence", "forgotten_retry", "lost_cancel"};
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
        if (kNames[i] == text) {
            out = static_cast<Plant>(i);
            return true;
        }
    }
    return false;
}

bool ReadOptions(const std::vector<std::string_view>& words, Options& options) {
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        const std::string_view value = words[i + 1];
        bool ok = false;
        if (words[i] == "--seeds") ok = ReadNumber(value, options.count);
        if (words[i] == "--seed") {
            ok = ReadNumber(value, options.first);
            options.count = 1;
        }
        if (words[i] == "--plant") ok = ReadPlant(value, options.plant);
        if (!ok) return false;
    }
    return words.size() % 2 == 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!ReadOptions({argv + 1, argv + argc}, options)) {
        fmt::print(stderr,
                   "usage: {} [--seeds N | --seed N] [--plant lost_fire|double_fire|missing_fence|"
                   "forgotten_retry|lost_cancel]\n",
                   argv[0]);
        return 2;
    }
    std::int64_t hours = 0;
    std::int64_t fires = 0;
    std::int64_t attempts = 0;
    for (std::uint64_t seed = options.first; seed < options.first + options.count; ++seed) {
        const auto report = ksana::sim::RunLedgerSim(seed, options.plant);
        if (report.violation) {
            fmt::print(stderr, "seed {}: {}\nRepeat it with: ./dev sim --seed {}\n", seed,
                       *report.violation, seed);
            return 1;
        }
        hours += report.simulated_hours;
        fires += report.fires;
        attempts += report.attempts;
    }
    fmt::print("{} seeds: {} simulated hours, {} runs, {} attempts, no violation\n", options.count,
               hours, fires, attempts);
    return 0;
}
