#include "ksana/store_json/json_session.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/dialects/jobs_file.hpp"
#include "ksana/store_json/change_log.hpp"

namespace ksana::store_json {
namespace {

using store_memory::Tables;

// The log is rewritten when it has grown to this many times its size after the last rewrite.
constexpr std::int64_t kGrowth = 4;

// After a commit the writer waits for 1/kGatherShare of the time the commit took, so that callers
// can come back with more. This adds a tenth to the delay and halves the writes of a burst.
constexpr int kGatherShare = 10;
constexpr Duration kLongestGather = std::chrono::milliseconds(2);

bool TouchesJobs(const Tables::Journal& journal) {
    return std::ranges::any_of(journal, [](const auto& change) { return change.index() == 0; });
}

}  // namespace

Result<void> JsonSession::Open(const Loaded& loaded) {
    const ReaderLock lock(mutex_);
    seq_ = loaded.last_seq;
    if (loaded.rewrite_log) {
        KSANA_TRY_VOID(RewriteLog());
    } else {
        KSANA_TRY(log_, AppendFile::Open(LogPathOf(options_.path)));
        if (log_.size() > loaded.log_size) KSANA_TRY_VOID(log_.CutTo(loaded.log_size));
        // Not the current size: a server that is restarted often would never rewrite the log.
        rewritten_size_ = loaded.live_size;
    }
    if (loaded.rewrite_jobs) return WriteJobs();
    return {};
}

JsonSession::~JsonSession() {
    if (const auto settled = Settle(); !settled) {
        Log(LogLevel::kError, "the files may hold a change that was refused",
            {{"file", options_.path}, {"error", settled.error().message}});
    }
}

Result<void> JsonSession::Begin() {
    mutex_.Lock();
    auto settled = Settle();
    if (!settled) mutex_.Unlock();
    return settled;
}

store_kit::Transaction& JsonSession::NextBody() {
    mutex_.AssertHeld();
    return transaction_.emplace(options_.clock, tables_);
}

Result<void> JsonSession::Commit() {
    mutex_.AssertHeld();
    const SteadyPoint begun = pace_.SteadyNow();
    Tables::Journal journal = tables_.TakeJournal();
    auto persisted = PersistOrRunOut(journal);
    if (!persisted) {
        tables_.TakeBack(std::move(journal));
        (void)Settle();  // tried again before the next transaction
    }
    mutex_.Unlock();
    last_commit_ = std::chrono::duration_cast<Duration>(pace_.SteadyNow() - begun);
    return persisted;
}

void JsonSession::Rollback() {
    mutex_.AssertHeld();
    tables_.TakeBack(tables_.TakeJournal());
    mutex_.Unlock();
}

Result<void> JsonSession::PersistOrRunOut(const Tables::Journal& journal) {
    const std::int64_t before = log_.size();
    try {
        return Persist(journal);
    } catch (const std::bad_alloc&) {
        (void)log_.CutTo(before);  // Settle tries again
        jobs_file_dirty_ = true;   // it may have been replaced
        return Error(Code::kUnavailable, "out of memory");
    }
}

// Writes the log first. A run without its job's new bookkeeping is harmless: planning again gives
// no fire a second run. A job without its run would have lost a fire.
Result<void> JsonSession::Persist(const Tables::Journal& journal) {
    if (journal.empty()) return {};
    const std::int64_t before = log_.size();
    KSANA_TRY_VOID(log_.Append(LogOf(tables_, journal, seq_ + 1)));
    if (TouchesJobs(journal)) {
        if (auto written = WriteJobs(); !written) {
            (void)log_.CutTo(before);  // Settle tries again
            return written;
        }
    }
    ++seq_;
    return {};
}

// Makes both files match the tables. Not called inside a transaction: jobs.json must not be written
// before the log.
Result<void> JsonSession::Settle() {
    if (lock_lost_) return *lock_lost_;
    KSANA_TRY_VOID(log_.Settle());
    if (jobs_file_dirty_) return WriteJobs();
    return {};
}

Result<void> JsonSession::WriteJobs() {
    std::vector<const model::Job*> jobs;
    jobs.reserve(tables_.jobs().size());
    for (const model::Job& job : tables_.jobs()) jobs.push_back(&job);
    std::ranges::sort(jobs, [](const model::Job* a, const model::Job* b) {
        return std::tie(a->state.created_at, a->id) < std::tie(b->state.created_at, b->id);
    });
    const std::string text = codec::JobsFileToJson(jobs, options_.clock.Now()) + "\n";
    KSANA_TRY(AppendFile placed, AppendFile::Replace(options_.path, text));
    jobs_file_dirty_ = true;
    KSANA_TRY_VOID(placed.Settle());
    jobs_file_dirty_ = false;
    if (options_.on_jobs_written) options_.on_jobs_written();
    return {};
}

// Replaces the log by a new file, so that a crash leaves one or the other. After the rename the new
// file is the log, whatever fails afterwards: the old one has no name any more.
Result<void> JsonSession::RewriteLog() {
    KSANA_TRY(log_, AppendFile::Replace(LogPathOf(options_.path), LogOfAll(tables_, seq_)));
    rewritten_size_ = log_.size();
    if (auto followed = lock_.Follow(); !followed) lock_lost_ = std::move(followed).error();
    if (lock_lost_) return *lock_lost_;
    return log_.Settle();
}

bool JsonSession::Maintain(bool idle) {
    if (log_.size() > std::max(options_.small_log, kGrowth * rewritten_size_)) {
        const ReaderLock lock(mutex_);
        if (const auto rewritten = RewriteLog(); !rewritten) {
            // Either file is valid, and nothing is acknowledged before the log is settled. The next
            // attempt follows after the log has grown again.
            rewritten_size_ = log_.size();
            Log(LogLevel::kWarn, "the log could not be written anew",
                {{"error", rewritten.error().message}});
        }
    }
    if (!idle) {
        Wakeup nobody;
        const Duration gather = std::min(last_commit_ / kGatherShare, kLongestGather);
        pace_.Wait(nobody, pace_.SteadyNow() + gather, {});
    }
    return false;
}

}  // namespace ksana::store_json
