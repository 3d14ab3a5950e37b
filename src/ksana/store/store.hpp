#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/record.hpp"
#include "ksana/store/change_feed.hpp"
#include "ksana/store/document_stores.hpp"
#include "ksana/store/event_store.hpp"
#include "ksana/store/job_store.hpp"
#include "ksana/store/lock_store.hpp"
#include "ksana/store/node_store.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::store {

struct StoreInfo {
    std::string driver;    // "memory", "json", "sqlite" or "postgres"
    std::string location;  // path or URL without secrets
    std::int64_t schema = 0;
};

// The number of rows by kind. `attempts` does not count the last attempt of each run.
struct RecordCounts {
    std::int64_t jobs = 0;
    std::int64_t runs = 0;
    std::int64_t attempts = 0;
    std::int64_t ledger = 0;
    std::int64_t events = 0;
    std::int64_t documents = 0;
    friend bool operator==(const RecordCounts&, const RecordCounts&) = default;
};

// Exports and imports a whole install, row by row and unchanged. Owned by the Store. Thread-safe. A
// page is consistent in itself; a whole export is consistent only while no other caller writes.
class RecordStore {
  public:
    virtual ~RecordStore() = default;
    // Returns the next page of all records. An empty cursor starts; an empty `next` ends.
    virtual Result<Page<model::Record>> Read(const std::string& cursor, std::size_t limit) = 0;
    // Adds at most kMaxBatch records unchanged, or none. Returns kAlreadyExists if one of them
    // exists, kInvalidArgument if no store could have made one of them.
    virtual Result<void> Add(const std::vector<model::Record>& records) = 0;
    virtual Result<RecordCounts> Counts() = 0;
};

// Everything that Ksana stores, with the same contract for every driver (tests/conformance). Its
// role interfaces live as long as the store. Thread-safe.
//
// A call returns success only after its commit. After an error nothing has changed, with one
// exception: kUnavailable with the word "unknown" in its message means that the connection broke
// during the commit and the outcome could not be determined.
class Store {
  public:
    virtual ~Store() = default;

    virtual JobStore& jobs() = 0;
    virtual RunStore& runs() = 0;
    virtual TypeStore& types() = 0;
    virtual WorkerStore& workers() = 0;
    virtual NodeStore& nodes() = 0;
    virtual LockStore& locks() = 0;
    virtual SettingStore& settings() = 0;
    virtual EventStore& events() = 0;
    virtual RecordStore& records() = 0;
    virtual ChangeFeed& changes() = 0;

    // Sets how the runs of fires are made that follow the end of other jobs' runs (`after`
    // schedules). Without it such a run has the job's own settings and no type's. Call it before
    // the store is used.
    virtual void MakeRunsWith(RunMaker maker) = 0;

    // Returns whether writes work. Does nothing as long as they do; after one has failed because of
    // the store itself (a full disk, a damaged file), it tries a small one.
    virtual Result<void> Writable() { return {}; }

    // Returns the store's clock, which decides whether a lease has expired.
    virtual Result<TimePoint> Now() = 0;
    virtual Result<StoreInfo> Info() = 0;
};

}  // namespace ksana::store
