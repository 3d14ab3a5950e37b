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
#include "ksana/store/topics.hpp"

namespace ksana::store {

// A stored value with its version, for a later compare-and-set.
template <class T>
struct Versioned {
    T value;
    std::int64_t version = 0;
};

// The version that a write requires: none = any, 0 = the key must not exist yet. A mismatch is
// kConflict, or kAlreadyExists for 0.
using ExpectedVersion = std::optional<std::int64_t>;

struct TypeWrite {
    model::RunType type;
    ExpectedVersion expected;
    // Stored in the same transaction as the type; the store sets `at`.
    std::optional<model::AuditEvent> audit;
};

struct DeleteTypeParams {
    std::string code;
    ExpectedVersion expected;
    std::optional<model::AuditEvent> audit;  // as in TypeWrite
};

// The run types, by code (T-06). Owned by the Store. Thread-safe. Each call is one transaction;
// after an error nothing has changed (store.hpp names the exception).
class TypeStore {
  public:
    virtual ~TypeStore() = default;
    // Creates or replaces the type and returns it with its new version.
    virtual Result<Versioned<model::RunType>> Put(TypeWrite write) = 0;
    // Returns kNotFound if there is no such type.
    virtual Result<Versioned<model::RunType>> Get(const std::string& code) = 0;
    virtual Result<Page<model::RunType>> List(const ListParams& params) = 0;
    // Returns kNotFound if there is no such type, kConflict if its version is not `expected`.
    virtual Result<void> Delete(DeleteTypeParams params) = 0;
};

// A sign of life of a worker process, with its current load.
struct Heartbeat {
    std::string worker_id;
    Uuid incarnation;
    std::int32_t busy = 0;
    bool draining = false;
    std::optional<TimePoint> now;
};

// The worker processes (D-05). Times are those of the store's clock unless the caller passes `now`,
// so that one clock judges how long a worker has been silent. Owned by the Store. Thread-safe. Each
// call is one transaction.
class WorkerStore {
  public:
    virtual ~WorkerStore() = default;
    // Stores the worker, replacing an earlier incarnation of the same id, which becomes `replaced`.
    // The same incarnation again keeps its registered_at, and a request to drain.
    virtual Result<model::Worker> Register(model::Worker worker, std::optional<TimePoint> now) = 0;
    // Returns kNotFound if the worker is not registered, kLeaseLost if another incarnation has
    // taken the id or the worker has deregistered.
    virtual Result<model::Worker> Beat(const Heartbeat& beat) = 0;
    // Marks the worker as deregistered; the row stays. Returns kNotFound if it is not registered,
    // kLeaseLost if another incarnation has taken the id.
    virtual Result<void> Deregister(const std::string& id, const Uuid& incarnation) = 0;
    // Asks the worker to drain, and stores `audit` in the same transaction. Returns kNotFound if it
    // is not registered, kConflict if it is an agent or has left.
    virtual Result<model::Worker> RequestDrain(
        const std::string& id, const std::optional<model::AuditEvent>& audit = {}) = 0;
    // Notes that the attempts of a silent worker were taken from it. Does nothing if it has beaten
    // since `last_heartbeat_at`, was replaced or is gone.
    virtual Result<void> NoteReaped(const std::string& id, TimePoint last_heartbeat_at) = 0;
    // Notes agents that have claimed: id, kinds, types, labels. Does not touch the row of a
    // registered worker that has not left. One transaction for all, at most kMaxBatch.
    virtual Result<void> NoteAgents(const std::vector<model::Worker>& agents,
                                    std::optional<TimePoint> now) = 0;
    // Deletes the row. Returns kNotFound if there is none.
    virtual Result<void> Forget(const std::string& id) = 0;
    // Deletes the row if its last heartbeat is older; does nothing else.
    virtual Result<void> ForgetSilent(const std::string& id, TimePoint before) = 0;
    virtual Result<model::Worker> Get(const std::string& id) = 0;
    virtual Result<Page<model::Worker>> List(const ListParams& params) = 0;
};

struct SettingWrite {
    std::string key;
    std::string value;  // JSON
    ExpectedVersion expected;
    std::optional<TimePoint> expires_at;
    // Stored in the same transaction as the value; the store sets `at`.
    std::optional<model::AuditEvent> audit;
    Topics topics = Topic::kDocuments;  // whom the commit wakes; empty: nobody
};

// Small JSON values by key: server settings, calendars, groups, answers to repeated requests. An
// expired value counts as absent in every call. Owned by the Store. Thread-safe. Each call is one
// transaction; after an error nothing has changed.
class SettingStore {
  public:
    virtual ~SettingStore() = default;
    // Creates or replaces the value and returns it with its new version.
    virtual Result<model::Document> Put(SettingWrite write) = 0;
    // Returns kNotFound if there is none.
    virtual Result<model::Document> Get(const std::string& key) = 0;
    virtual Result<Page<model::Document>> List(const ListParams& params) = 0;
    // Returns kNotFound if there is none, kConflict if its version is not `expected`. Stores
    // `audit` in the same transaction as a deletion.
    virtual Result<void> Delete(const std::string& key, ExpectedVersion expected,
                                const std::optional<model::AuditEvent>& audit = {}) = 0;
    // Deletes at most `limit` expired values and returns how many.
    virtual Result<std::size_t> PurgeExpired(std::size_t limit) = 0;
};

}  // namespace ksana::store
