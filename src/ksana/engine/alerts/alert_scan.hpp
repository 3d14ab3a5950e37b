#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ksana/base/time/time_text.hpp"
#include "ksana/engine/alerts/alert_scanner.hpp"

// Private to alert_scanner*.cpp.

namespace ksana::engine {

inline std::string SubjectOf(const model::Run& run) {
    return run.job_id.empty() ? "type:" + run.type : "job:" + run.job_id;
}

inline std::optional<Duration> TookOf(const model::Run& run) {
    if (!run.status.started_at || !run.status.ended_at) return std::nullopt;
    return *run.status.ended_at - *run.status.started_at;
}

inline std::string Rounded(Duration duration) {
    return FormatDuration(std::chrono::floor<std::chrono::milliseconds>(duration));
}

// The state of one scan.
struct AlertScanner::Scan {
    // The subjects that have a held run.
    struct HeldSubjects {
        std::set<std::string> subjects;
        bool all = true;  // false: there are more held runs than were read
    };

    const std::vector<const model::AlertRule*>& rules;
    TimePoint now{};
    TimePoint from{};   // where the previous scan ended
    bool back = false;  // the runs at hand ended before `from`
    std::map<std::string, std::shared_ptr<const model::Job>> jobs;  // null: no such job
    std::map<std::string, std::optional<Duration>> medians;
    std::optional<HeldSubjects> held;  // none: not read yet
    Found found;

    bool Has(model::AlertKind kind) const {
        return std::ranges::any_of(rules, [kind](const auto* rule) { return rule->on == kind; });
    }
    const model::Job* JobOf(const model::Run& run) const {
        const auto job = jobs.find(run.job_id);
        return job == jobs.end() ? nullptr : job->second.get();
    }
    void Bad(const model::AlertRule& rule, const model::Run& run, TimePoint at,
             std::string message) {
        found.observations.push_back(
            {&rule, SubjectOf(run), {true, at, std::move(message), run.id}});
    }
    void Good(const model::AlertRule& rule, const model::Run& run, TimePoint at) {
        found.observations.push_back({&rule, SubjectOf(run), {false, at, "", std::nullopt}});
    }
};

}  // namespace ksana::engine
