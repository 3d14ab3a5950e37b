// ksana_sim [--seeds N | --seed N | --seed-file FILE] [--sim ledger|cluster] [--plant BUG]
//           [--twice yes]

#include <fmt/core.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/log/log.hpp"
#include "ksana/base/time/clock.hpp"
#include "sim/cluster_sim.hpp"
#include "sim/ledger_sim.hpp"

namespace {

using namespace ksana;
using sim::Plant;

// The last lines of a job's story that are printed after a violation.
constexpr std::size_t kTold = 40;

struct Options {
    std::vector<std::uint64_t> seeds;
    bool ledger = true;
    bool cluster = true;
    std::string plant = "none";
    bool twice = false;  // runs each seed again: the same must happen
};

std::optional<std::uint64_t> NumberOf(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<Plant> LedgerPlantOf(std::string_view text) {
    static constexpr std::string_view kNames[] = {
        "none", "lost_fire", "double_fire", "missing_fence", "forgotten_retry", "lost_cancel"};
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
        if (kNames[i] == text) return static_cast<Plant>(i);
    }
    return std::nullopt;
}

// One seed per line; the rest of a line is a remark.
bool ReadSeeds(const std::string& path, std::vector<std::uint64_t>& seeds) {
    std::ifstream file(path);
    if (!file) return false;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        const auto seed = NumberOf(std::string_view(line).substr(0, line.find(' ')));
        if (!seed) return false;
        seeds.push_back(*seed);
    }
    return true;
}

bool ReadOption(std::string_view name, std::string_view value, Options& options) {
    const auto number = NumberOf(value);
    if (name == "--seeds" && number) {
        for (std::uint64_t seed = 1; seed <= *number; ++seed) options.seeds.push_back(seed);
        return true;
    }
    if (name == "--seed" && number) {
        options.seeds.push_back(*number);
        return true;
    }
    if (name == "--seed-file") return ReadSeeds(std::string(value), options.seeds);
    if (name == "--sim" && (value == "ledger" || value == "cluster")) {
        options.ledger = value == "ledger";
        options.cluster = value == "cluster";
        return true;
    }
    if (name == "--plant") {
        options.plant = value;
        options.ledger = options.ledger && LedgerPlantOf(value);
        options.cluster = options.cluster && sim::PlantOf(value);
        return options.ledger || options.cluster;
    }
    if (name == "--twice") return options.twice = value == "yes";
    return false;
}

bool ReadOptions(const std::vector<std::string_view>& words, Options& options) {
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        if (!ReadOption(words[i], words[i + 1], options)) return false;
    }
    if (options.seeds.empty()) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) options.seeds.push_back(seed);
    }
    return words.size() % 2 == 0;
}

void SayHowToRepeat(std::uint64_t seed, const Options& options, std::string_view which) {
    const std::string plant = options.plant == "none" ? "" : " --plant " + options.plant;
    fmt::print(stderr, "Repeat it with: ./dev sim --seed {} --sim {}{}\n", seed, which, plant);
}

bool RunLedger(const Options& options) {
    std::int64_t hours = 0;
    std::int64_t fires = 0;
    std::int64_t attempts = 0;
    for (const std::uint64_t seed : options.seeds) {
        const auto report = sim::RunLedgerSim(seed, *LedgerPlantOf(options.plant));
        if (report.violation) {
            fmt::print(stderr, "seed {}: {}\n", seed, *report.violation);
            SayHowToRepeat(seed, options, "ledger");
            return false;
        }
        hours += report.simulated_hours;
        fires += report.fires;
        attempts += report.attempts;
    }
    fmt::print("ledger: {} seeds: {} simulated hours, {} runs, {} attempts, no violation\n",
               options.seeds.size(), hours, fires, attempts);
    return true;
}

// Runs the seed again to get the story of the job concerned; the same happens again.
void Tell(std::uint64_t seed, const Options& options, const sim::ClusterReport& report) {
    const sim::Violation& violation = *report.violation;
    fmt::print(stderr, "seed {}: {} is broken: {}\n  job \"{}\" run \"{}\"\n  {}\n", seed,
               violation.invariant, violation.what, violation.job_id, violation.run_id,
               report.totals.Describe());
    const auto again = sim::RunClusterSim(seed, *sim::PlantOf(options.plant), violation.job_id);
    const std::size_t told = std::min(again.story.size(), kTold);
    for (auto line = again.story.end() - static_cast<std::ptrdiff_t>(told);
         line != again.story.end(); ++line) {
        fmt::print(stderr, "  {}\n", *line);
    }
    SayHowToRepeat(seed, options, "cluster");
}

bool RunCluster(const Options& options) {
    const auto begin = SystemClock().SteadyNow();
    sim::ClusterTotals totals;
    for (const std::uint64_t seed : options.seeds) {
        const auto report = sim::RunClusterSim(seed, *sim::PlantOf(options.plant));
        if (report.violation) {
            Tell(seed, options, report);
            return false;
        }
        if (options.twice &&
            sim::RunClusterSim(seed, *sim::PlantOf(options.plant)).hash != report.hash) {
            fmt::print(stderr, "seed {}: not the same the second time\n", seed);
            return false;
        }
        totals.Add(report.totals);
    }
    const std::chrono::duration<double> took = SystemClock().SteadyNow() - begin;
    fmt::print("cluster: {} seeds: {}; no violation; {:.1f} s, {:.0f} simulated hours a second\n",
               options.seeds.size(), totals.Describe(), took.count(), totals.hours / took.count());
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!ReadOptions({argv + 1, argv + argc}, options)) {
        fmt::print(stderr,
                   "usage: {} [--seeds N | --seed N | --seed-file FILE] [--sim ledger|cluster] "
                   "[--twice yes]\n  [--plant BUG]  ledger: lost_fire double_fire missing_fence "
                   "forgotten_retry lost_cancel\n                 cluster: lost_update double_fire "
                   "missing_fence forgotten_retry no_limits\n                   lost_callback "
                   "unfenced_agent early_hand_over double_key lone_shares\n"
                   "                   lost_release double_release forgotten_join "
                   "forgotten_orphan\n                   early_dispatch no_sweep "
                   "unfenced_consumer blind_limits\n",
                   argv[0]);
        return 2;
    }
    // These worlds have thousands of failures, so nothing is logged.
    if (!ConfigureLog({.level = LogLevel::kOff, .format = LogFormat::kText, .file = {}})) return 2;
    if (options.ledger && !RunLedger(options)) return 1;
    if (options.cluster && !RunCluster(options)) return 1;
    return 0;
}
