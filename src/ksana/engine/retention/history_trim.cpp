#include "ksana/engine/retention/history_trim.hpp"

#include <algorithm>
#include <limits>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {
namespace {

using model::Run;

constexpr std::string_view kTrimLock = "history-trim";

constexpr model::RunStates kFinished =
    static_cast<model::RunStates>(model::kAllStates & ~model::kUnfinishedStates);

// Assumed bytes of a row with its index entries.
constexpr std::int64_t kBytesOfRun = 500;
constexpr std::int64_t kBytesOfAttempt = 150;

// The sample: kSample runs from each of kSlices age ranges.
constexpr int kSlices = 10;
constexpr std::size_t kSample = 20;

// Counting reads a whole index. The time between two counts is kShare times the duration of one, so
// that counting takes at most a hundredth of the time.
constexpr int kShare = 100;

// The most excess runs that one count finds; the next count finds the rest.
constexpr std::int64_t kMostAtOnce = 1'000'000;

store::RunFilter Ended(std::optional<TimePoint> from, TimePoint until) {
    store::RunFilter filter;
    filter.states = kFinished;
    filter.finished_from = from;
    filter.finished_until = until;
    return filter;
}

}  // namespace

std::int64_t SizeOfRun(const Run& run) {
    const model::RunStatus& status = run.status;
    const std::size_t attempt = status.last_error.size() + status.detail.size();
    const std::size_t texts = run.job_id.size() + run.type.size() + run.category.size() +
                              run.creator.size() + run.payload.size() + run.unique.key.size() +
                              status.result.size() + status.progress_note.size() +
                              status.remark.size() + attempt;
    // Earlier attempts are rows of their own, about as large as the last one.
    const std::int64_t earlier = std::max(status.attempt - 1, 0);
    return kBytesOfRun + static_cast<std::int64_t>(texts) +
           earlier * (kBytesOfAttempt + static_cast<std::int64_t>(attempt));
}

Result<HistoryTrim::Answer> HistoryTrim::RunOnce() {
    Answer answer;
    if (options_.max_runs <= 0 && options_.max_bytes <= 0) return answer;
    const SteadyPoint start = clock_.SteadyNow();
    if (to_delete_ <= 0 && next_look_ && start < *next_look_) return answer;
    if (!IsMine()) {
        to_delete_ = 0;
        next_look_ = start + options_.rest;
        return answer;
    }
    KSANA_TRY(const TimePoint now, store_.Now());
    if (to_delete_ <= 0) {
        KSANA_TRY(to_delete_, TooMany(now));
        const SteadyPoint end = clock_.SteadyNow();
        next_look_ =
            end + std::max<Duration>(options_.rest,
                                     std::chrono::duration_cast<Duration>((end - start) * kShare));
        if (to_delete_ <= 0) return answer;
    }
    const auto batch = std::min(options_.batch, static_cast<std::size_t>(to_delete_));
    KSANA_TRY(answer.runs,
              store_.runs().Purge({.finished_before = now, .states = kFinished, .limit = batch}));
    to_delete_ -= static_cast<std::int64_t>(answer.runs);
    if (answer.runs < batch) to_delete_ = 0;  // another node deleted some
    answer.more = to_delete_ > 0;
    return answer;
}

// A lock that cannot be asked for is not held. The history may wait, and what Retention deletes for
// its age needs no lock.
bool HistoryTrim::IsMine() {
    const auto answer = locks_.Try({.key = std::string(kTrimLock),
                                    .token = options_.owner,
                                    .ttl = 2 * options_.rest,
                                    .stamp = {}});
    if (!answer) {
        Log(LogLevel::kWarn, "the history is not trimmed: its lock cannot be had",
            {{"locks", locks_.Location()}, {"error", answer.error().Describe()}});
        return false;
    }
    return answer->grant.has_value();
}

Result<std::int64_t> HistoryTrim::TooMany(TimePoint now) {
    std::int64_t runs = 0;
    std::int64_t by_size = 0;
    if (options_.max_runs > 0) {
        KSANA_TRY(runs, TooManyRuns(now));
    }
    if (options_.max_bytes > 0) {
        KSANA_TRY(by_size, TooManyBytes(now));
    }
    return std::max(runs, by_size);
}

Result<std::int64_t> HistoryTrim::TooManyRuns(TimePoint now) {
    KSANA_TRY(const std::int64_t count,
              store_.runs().Count(Ended({}, now), options_.max_runs + kMostAtOnce));
    return count - options_.max_runs;
}

// Old runs may be larger or smaller than recent ones, so each slice counts with its own mean size.
Result<std::int64_t> HistoryTrim::TooManyBytes(TimePoint now) {
    KSANA_TRY(const std::vector<Slice> slices, Slices(now));
    std::int64_t excess = -options_.max_bytes;
    for (const Slice& slice : slices) excess += slice.runs * slice.bytes_each;
    std::int64_t runs = 0;
    for (const Slice& slice : slices) {
        if (excess <= 0) break;
        const std::int64_t enough = (excess + slice.bytes_each - 1) / slice.bytes_each;
        const std::int64_t taken = std::min(slice.runs, enough);
        runs += taken;
        excess -= taken * slice.bytes_each;
    }
    return runs;
}

// Returns the slices, oldest first.
Result<std::vector<HistoryTrim::Slice>> HistoryTrim::Slices(TimePoint now) {
    std::vector<Slice> slices;
    store::RunQuery query;
    query.filter = Ended({}, now);
    query.sort = store::RunSort::kFinished;
    query.descending = false;
    query.limit = 1;
    KSANA_TRY(const store::Page<Run> oldest, store_.runs().List(query));
    if (oldest.items.empty()) return slices;
    TimePoint from = oldest.items.front().status.finished_at.value_or(now);
    const Duration width = (now - from) / kSlices + Duration(1);
    for (; from < now; from += width) {
        KSANA_TRY(const Slice slice, Look(from, std::min(from + width, now)));
        if (slice.runs > 0) slices.push_back(slice);
    }
    return slices;
}

Result<HistoryTrim::Slice> HistoryTrim::Look(TimePoint from, TimePoint until) {
    Slice slice;
    KSANA_TRY(slice.runs,
              store_.runs().Count(Ended(from, until), std::numeric_limits<std::int32_t>::max()));
    if (slice.runs == 0) return slice;
    store::RunQuery query;
    query.filter = Ended(from, until);
    query.sort = store::RunSort::kFinished;
    query.limit = kSample;
    KSANA_TRY(const store::Page<Run> sample, store_.runs().List(query));
    if (sample.items.empty()) return Slice();  // deleted meanwhile
    std::int64_t bytes = 0;
    for (const Run& run : sample.items) bytes += SizeOfRun(run);
    slice.bytes_each = bytes / static_cast<std::int64_t>(sample.items.size());
    return slice;
}

}  // namespace ksana::engine
