#include "ksana/telemetry/process_metrics.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace ksana::telemetry {
namespace {

// Values from /proc/self/stat, see proc(5).
struct Stat {
    double cpu_ticks = 0;
    double start_ticks = 0;  // since boot
    double resident_pages = 0;
};

std::optional<Stat> ReadStat(const std::string& proc) {
    std::ifstream file(proc + "/self/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    // The second field is the program's name in parentheses, and may contain blanks and
    // parentheses.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream rest(text.substr(name_end + 1));
    const std::vector<std::string> fields{std::istream_iterator<std::string>(rest), {}};
    constexpr std::size_t kFirst = 3;  // number of fields[0] in proc(5)
    if (fields.size() <= 24 - kFirst) return std::nullopt;
    const auto number = [&](std::size_t field) {
        return std::strtod(fields.at(field - kFirst).c_str(), nullptr);
    };
    return Stat{number(14) + number(15), number(22), number(24)};
}

// Returns the boot time in seconds since 1970.
std::optional<double> ReadBootTime(const std::string& proc) {
    std::ifstream file(proc + "/stat");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
    }
    return std::nullopt;
}

std::optional<double> CountOpenFiles(const std::string& proc) {
    std::error_code failed;
    std::filesystem::directory_iterator entry(proc + "/self/fd", failed);
    double count = -1;  // not counting the descriptor of the iterator itself
    while (!failed && entry != std::filesystem::directory_iterator()) {
        ++count;
        entry.increment(failed);
    }
    if (failed) return std::nullopt;
    return count;
}

double TicksPerSecond() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

void CollectCpu(const std::string& proc, Samples& out) {
    if (const auto stat = ReadStat(proc)) out.Add({}, stat->cpu_ticks / TicksPerSecond());
}

void CollectMemory(const std::string& proc, Samples& out) {
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    if (const auto stat = ReadStat(proc)) out.Add({}, stat->resident_pages * page);
}

void CollectOpenFiles(const std::string& proc, Samples& out) {
    if (const auto count = CountOpenFiles(proc)) out.Add({}, *count);
}

}  // namespace

ProcessMetrics::ProcessMetrics(Registry& registry, const std::string& proc) {
    const auto with = [&proc](void (*collect)(const std::string&, Samples&)) {
        return [proc, collect](Samples& out) { collect(proc, out); };
    };
    callbacks_.push_back(registry.AddCallbackCounter(
        {"process_cpu_seconds_total", "Processor time used, user and system, in seconds."},
        with(CollectCpu)));
    callbacks_.push_back(registry.AddCallbackGauge(
        {"process_resident_memory_bytes", "Memory in use, resident, in bytes."},
        with(CollectMemory)));
    callbacks_.push_back(registry.AddCallbackGauge({"process_open_fds", "Open file descriptors."},
                                                   with(CollectOpenFiles)));

    // Read once: btime changes when the wall clock is set, but a process's start time must not.
    const auto boot = ReadBootTime(proc);
    const auto stat = ReadStat(proc);
    if (!boot || !stat) return;
    const double started = *boot + stat->start_ticks / TicksPerSecond();
    callbacks_.push_back(registry.AddCallbackGauge(
        {"process_start_time_seconds", "When the process started, in seconds since 1970."},
        [started](Samples& out) { out.Add({}, started); }));
}

}  // namespace ksana::telemetry
