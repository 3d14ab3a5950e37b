#include "ksana/store_kit/group_commit.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace ksana::store_kit {
namespace {

// A body without memory fails like any other: what it has changed is rolled back.
Result<void> RunBody(const Backend::WriteBody& body, Transaction& transaction) {
    try {
        return body(transaction);
    } catch (const std::bad_alloc&) {
        return Error(Code::kUnavailable, "out of memory");
    }
}

// A batch in which more bodies than this fail after a change runs one body at a time.
constexpr int kMaxRestarts = 4;

}  // namespace

GroupCommit::GroupCommit(std::string name, CommitSession& session, store::ChangeFeed& changes)
    : session_(session),
      changes_(changes),
      thread_(std::move(name), [this](const std::stop_token& stop) { Loop(stop); }) {}

GroupCommit::~GroupCommit() { thread_.Stop(); }

Result<void> GroupCommit::Run(const Backend::WriteBody& body) {
    Operation operation{.body = body};
    bool wake = false;
    {
        const MutexLock lock(mutex_);
        pending_.push_back(&operation);
        wake = std::exchange(sleeping_, false);
    }
    if (wake) arrived_.NotifyOne();
    MutexLock lock(operation.mutex);
    operation.finished.Wait(lock, [&]() KSANA_REQUIRES(operation.mutex) { return operation.done; });
    if (operation.error) return std::move(*operation.error);
    return {};
}

std::size_t GroupCommit::waiting() {
    const MutexLock lock(mutex_);
    return pending_.size();
}

// Notifies under the lock: the operation is destroyed as soon as its caller can take the lock.
void GroupCommit::Wake(Operation& operation) {
    const MutexLock lock(operation.mutex);
    operation.done = true;
    operation.finished.NotifyOne();
}

bool GroupCommit::Take(const std::stop_token& stop, bool wait) {
    MutexLock lock(mutex_);
    if (wait) {
        sleeping_ = pending_.empty();
        arrived_.Wait(lock, stop, [this]() KSANA_REQUIRES(mutex_) { return !pending_.empty(); });
        sleeping_ = false;
    }
    batch_.clear();
    MovePending();
    return !batch_.empty() || !stop.stop_requested();
}

bool GroupCommit::Join() {
    const MutexLock lock(mutex_);
    return MovePending();
}

// Returns false if nothing was pending or the batch is full.
bool GroupCommit::MovePending() {
    const std::size_t count = std::min(pending_.size(), kMaxBatch - batch_.size());
    const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(count);
    batch_.insert(batch_.end(), pending_.begin(), end);
    pending_.erase(pending_.begin(), end);
    return count > 0;
}

void GroupCommit::Loop(const std::stop_token& stop) {
    bool more_upkeep = false;
    while (Take(stop, !more_upkeep)) {
        if (!batch_.empty()) {
            RunBatch();
            NoteBatch();
            for (Operation* operation : batch_) Wake(*operation);
        }
        more_upkeep = session_.Maintain(batch_.empty());
    }
}

// A body may fail for reasons of its caller, which say nothing about the store.
void GroupCommit::NoteBatch() {
    bool fails = false;
    for (const Operation* operation : batch_) {
        if (!operation->error) continue;
        const Code code = operation->error->code;
        const bool of_store =
            !operation->out || code == Code::kStorageFull || code == Code::kDataLoss;
        fails = fails || of_store;
    }
    if (fails || std::exchange(wrote_, false)) fails_ = fails;
}

void GroupCommit::RunBatch() {
    for (int restarts = 0; restarts <= kMaxRestarts; ++restarts) {
        const auto finished = TryBatch(restarts == 0);
        if (!finished) {
            for (Operation* operation : batch_) operation->error = finished.error();
            return;
        }
        if (*finished) return;
    }
    for (Operation* operation : batch_) {
        if (!operation->out) RunAlone(*operation);
    }
}

// Returns false if a body failed after a change: nothing is committed, and the rest must run again
// without it. Its error may rest on changes of earlier bodies; those run again and are committed.
Result<bool> GroupCommit::TryBatch(bool join) {
    KSANA_TRY_VOID(session_.Begin());
    store::Topics touched;
    for (std::size_t i = 0; i < batch_.size() || (std::exchange(join, false) && Join()); ++i) {
        Operation* const operation = batch_[i];
        if (operation->out) continue;
        const std::int64_t before = session_.changes();
        Transaction& transaction = session_.NextBody();
        auto result = RunBody(operation->body, transaction);
        if (result) {
            wrote_ = wrote_ || session_.changes() != before;
            touched |= transaction.touched();
            continue;
        }
        operation->error = std::move(result).error();
        operation->out = true;
        if (session_.changes() == before) continue;
        session_.Rollback();
        return false;
    }
    KSANA_TRY_VOID(CommitAndTell(touched));
    return true;
}

void GroupCommit::RunAlone(Operation& operation) {
    auto result = session_.Begin();
    if (result) {
        Transaction& transaction = session_.NextBody();
        const std::int64_t before = session_.changes();
        result = RunBody(operation.body, transaction);
        if (result) {
            wrote_ = wrote_ || session_.changes() != before;
            result = CommitAndTell(transaction.touched());
        } else {
            operation.out = true;
            session_.Rollback();
        }
    }
    if (!result) operation.error = std::move(result).error();
}

Result<void> GroupCommit::CommitAndTell(store::Topics touched) {
    KSANA_TRY_VOID(session_.Commit());
    if (!touched.Empty()) changes_.Publish(touched);
    return {};
}

}  // namespace ksana::store_kit
