#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/document.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/model/worker.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

// A value with the version that a later change may insist on.
template <class T>
struct Versioned {
    T value;
    std::int64_t version = 0;
};

// A write that insists: absent = whatever is there, 0 = nothing must be there.
using ExpectedVersion = std::optional<std::int64_t>;

struct ListParams {
    std::string prefix;  // of the key
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
};

struct TypeWrite {
    model::RunType type;
    ExpectedVersion expected;
    // Kept in the same transaction if the type is written; the store sets `at`.
    std::optional<model::AuditEvent> audit;
};

struct DeleteTypeParams {
    std::string code;
    ExpectedVersion expected;
    std::optional<model::AuditEvent> audit;  // as that of a TypeWrite
};

// Types of runs, by code (T-06).
class TypeStore {
  public:
    virtual ~TypeStore() = default;
    virtual Result<Versioned<model::RunType>> Put(TypeWrite write) = 0;
    virtual Result<Versioned<model::RunType>> Get(const std::string& code) = 0;
    virtual Result<Page<model::RunType>> List(const ListParams& params) = 0;
    virtual Result<void> Delete(DeleteTypeParams params) = 0;
};

struct Heartbeat {
    std::string worker_id;
    Uuid incarnation;
    std::int32_t busy = 0;
    bool draining = false;
    std::optional<TimePoint> now;
};

// Worker processes (D-05). All times are the store's, so that silence is judged by one clock.
class WorkerStore {
  public:
    virtual ~WorkerStore() = default;
    // Takes the place of an earlier incarnation of the same id.
    virtual Result<model::Worker> Register(model::Worker worker, std::optional<TimePoint> now) = 0;
    // kLeaseLost: another incarnation has taken the id. kNotFound: register first.
    virtual Result<model::Worker> Beat(const Heartbeat& beat) = 0;
    virtual Result<void> Deregister(const std::string& id, const Uuid& incarnation) = 0;
    virtual Result<void> Forget(const std::string& id) = 0;
    virtual Result<model::Worker> Get(const std::string& id) = 0;
    virtual Result<Page<model::Worker>> List(const ListParams& params) = 0;
};

struct LockParams {
    std::string name;
    std::string owner;
    Duration ttl = std::chrono::seconds(30);
    std::optional<TimePoint> now;
};

// Locks as rows (G-06): a lock is free when its time has passed. The fence grows with every
// acquisition, so that whatever a lock protects can refuse an earlier holder.
class LockStore {
  public:
    virtual ~LockStore() = default;
    // Nothing when somebody else has it; its holder gets it again, with a new fence.
    virtual Result<std::optional<model::Lock>> TryAcquire(const LockParams& params) = 0;
    // kLeaseLost when it is not held under this fence any more.
    virtual Result<model::Lock> Renew(const LockParams& params, std::int64_t fence) = 0;
    virtual Result<void> Release(const std::string& name, std::int64_t fence) = 0;
    virtual Result<Page<model::Lock>> List(const ListParams& params) = 0;
};

struct SettingWrite {
    std::string key;
    std::string value;  // JSON
    ExpectedVersion expected;
    std::optional<TimePoint> expires_at;
    // Kept in the same transaction if the value is written; the store sets `at`.
    std::optional<model::AuditEvent> audit;
};

// Small values by key: server settings, calendars, groups, answers to repeated requests.
class SettingStore {
  public:
    virtual ~SettingStore() = default;
    virtual Result<model::Document> Put(SettingWrite write) = 0;
    virtual Result<model::Document> Get(const std::string& key) = 0;
    virtual Result<Page<model::Document>> List(const ListParams& params) = 0;
    // The audit is kept in the same transaction if there was something to delete.
    virtual Result<void> Delete(const std::string& key, ExpectedVersion expected,
                                const std::optional<model::AuditEvent>& audit = {}) = 0;
    // Deletes what has expired, at most so many; how many it were.
    virtual Result<std::size_t> PurgeExpired(std::size_t limit) = 0;
};

}  // namespace ksana::store
