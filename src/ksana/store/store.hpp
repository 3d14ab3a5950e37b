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
#include "ksana/store/run_store.hpp"

namespace ksana::store {

struct StoreInfo {
    std::string driver;    // "sqlite"
    std::string location;  // without secrets
    std::int64_t schema = 0;
};

// How many of everything there are.
struct RecordCounts {
    std::int64_t jobs = 0;
    std::int64_t runs = 0;
    std::int64_t attempts = 0;
    std::int64_t ledger = 0;
    std::int64_t events = 0;
    std::int64_t documents = 0;
    friend bool operator==(const RecordCounts&, const RecordCounts&) = default;
};

// Moves a whole install from one store to another, exactly as it is.
class RecordStore {
  public:
    virtual ~RecordStore() = default;
    // Everything, a piece at a time; an empty cursor begins, and an empty `next` ends.
    virtual Result<Page<model::Record>> Read(const std::string& cursor, std::size_t limit) = 0;
    // Adds records as they are. One that is there already fails the batch with kAlreadyExists, one
    // that no store could have made with kInvalidArgument.
    virtual Result<void> Add(const std::vector<model::Record>& records) = 0;
    virtual Result<RecordCounts> Counts() = 0;
};

// Everything Ksana knows, with the same meaning whatever is behind it (tests/conformance). An
// answer is given after the commit; an error means that nothing was changed, except kUnavailable
// with the word "unknown" where a connection broke and could not be asked again. Thread-safe.
class Store {
  public:
    virtual ~Store() = default;

    virtual JobStore& jobs() = 0;
    virtual RunStore& runs() = 0;
    virtual TypeStore& types() = 0;
    virtual WorkerStore& workers() = 0;
    virtual LockStore& locks() = 0;
    virtual SettingStore& settings() = 0;
    virtual EventStore& events() = 0;
    virtual RecordStore& records() = 0;
    virtual ChangeFeed& changes() = 0;

    // The clock by which leases are judged.
    virtual Result<TimePoint> Now() = 0;
    virtual Result<StoreInfo> Info() = 0;
};

}  // namespace ksana::store
