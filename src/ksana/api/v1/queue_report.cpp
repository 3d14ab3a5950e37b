#include "ksana/api/v1/queue_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ksana::api {
namespace {

using model::Run;
using model::RunState;

using Key = std::pair<model::ActionKind, std::string>;  // kind and type
using Lines = std::map<Key, QueueLine>;

// Runs are read a page at a time: a run may take a megabyte.
constexpr std::size_t kRunsAtOnce = 100;

// Ids are ordered by time only as far as the clocks of the nodes that drew them are right. The
// search ends after this many consecutive runs older than the window, not at the first one.
constexpr std::size_t kMostOld = 200;

// The newest runs back to `since`, newest first, and the seconds that they span.
struct Sample {
    std::vector<std::pair<Key, RunState>> runs;
    double seconds = 1;
};

template <class TimeOf>
Result<Sample> Newest(store::Store& store, store::RunQuery query, TimePoint now,
                      const TimeOf& time_of) {
    const TimePoint since = now - kRateWindow;
    Sample sample;
    TimePoint oldest = since;
    std::size_t old = 0;  // consecutive
    query.limit = kRunsAtOnce;
    for (bool more = true; more;) {
        KSANA_TRY(const store::Page<Run> page, store.runs().List(query));
        more = !page.next.empty();
        query.cursor = page.next;
        for (const Run& run : page.items) {
            if (time_of(run) < since) {
                if (++old < kMostOld) continue;
                more = false;
                break;
            }
            old = 0;
            sample.runs.push_back({{run.kind, run.type}, run.status.state});
            oldest = time_of(run);
        }
        if (!more) oldest = since;  // no other run is in the window
        if (sample.runs.size() >= kRateSample) more = false;
    }
    const std::chrono::duration<double> spread = now - oldest;
    sample.seconds = std::max(spread.count(), 0.001);
    return sample;
}

Result<Sample> NewestSubmitted(store::Store& store, TimePoint now) {
    return Newest(store, {}, now, [](const Run& run) { return run.created_at; });
}

Result<Sample> NewestFinished(store::Store& store, TimePoint now) {
    store::RunQuery query;
    query.sort = store::RunSort::kFinished;
    query.filter.states =
        static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);
    query.filter.finished_from = now - kRateWindow;
    return Newest(store, std::move(query), now,
                  [](const Run& run) { return run.status.finished_at.value_or(run.created_at); });
}

void AddDepth(QueueLine& line, const store::QueueDepth& depth) {
    switch (depth.state) {
        case RunState::kScheduled:
            line.scheduled += depth.count;
            break;
        case RunState::kQueued:
            line.queued += depth.count;
            line.oldest =
                std::min(line.oldest.value_or(depth.oldest_ready_at), depth.oldest_ready_at);
            break;
        case RunState::kRunning:
            line.running += depth.count;
            break;
        case RunState::kCompleting:
            line.completing += depth.count;
            break;
        case RunState::kHeld:
            line.held += depth.count;
            break;
        default:
            break;
    }
}

void AddLine(QueueLine& sum, const QueueLine& line) {
    sum.scheduled += line.scheduled;
    sum.queued += line.queued;
    sum.running += line.running;
    sum.held += line.held;
    sum.completing += line.completing;
    if (line.oldest) sum.oldest = std::min(sum.oldest.value_or(*line.oldest), *line.oldest);
    sum.submitted_per_second += line.submitted_per_second;
    sum.finished_per_second += line.finished_per_second;
    sum.failed_per_second += line.failed_per_second;
}

bool HasFailed(RunState state) {
    return state == RunState::kFailed || state == RunState::kTimedOut;
}

}  // namespace

Result<QueueReport> ReadQueues(store::Store& store, const QueueQuestion& question) {
    QueueReport report;
    KSANA_TRY(report.at, store.Now());
    Lines lines;
    KSANA_TRY(const std::vector<store::QueueDepth> depths, store.runs().Depths());
    for (const store::QueueDepth& depth : depths) {
        AddDepth(lines[{depth.kind, depth.type}], depth);
    }
    KSANA_TRY(const Sample submitted, NewestSubmitted(store, report.at));
    for (const auto& [key, state] : submitted.runs) {
        lines[key].submitted_per_second += 1 / submitted.seconds;
    }
    KSANA_TRY(const Sample finished, NewestFinished(store, report.at));
    for (const auto& [key, state] : finished.runs) {
        lines[key].finished_per_second += 1 / finished.seconds;
        if (HasFailed(state)) lines[key].failed_per_second += 1 / finished.seconds;
    }
    std::map<std::string, QueueLine> categories;
    for (auto& [key, line] : lines) {
        line.kind = key.first;
        line.type = key.second;
        line.category = question.category_of(key.second);
        if (!question.type.empty() && key.second != question.type) continue;
        if (!question.category.empty() && line.category != question.category) continue;
        AddLine(categories[line.category], line);
        report.types.push_back(line);
    }
    for (auto& [category, line] : categories) {
        line.category = category;
        report.categories.push_back(line);
    }
    return report;
}

}  // namespace ksana::api
