#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/codec/records/stored_answer.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// A request as its handler sees it.
struct Call {
    const http_server::Request& request;
    // Id for the object that the request creates. A repetition with the same Idempotency-Key gets
    // the same id, so that a retry of a request that was cut off after its commit finds the object.
    // None: the handler draws one.
    std::optional<Uuid> id;
    bool again = false;  // an earlier try began and stored no answer
};

using CallHandler = std::function<Result<http_server::Response>(const Call&)>;

// Implements Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a request repeated with
// its key gets the first answer, for a day, on every node and after a restart. A 4xx answer changed
// nothing and is not kept, so that the key can be used for the corrected request. After a 5xx the
// same request may be retried at once. The engine's retention deletes expired keys. With kMaxKeys
// stored keys, new ones are refused (kExhausted), as are those of a client that has sent
// kMaxKeysOfClient to this node within the last day, about. Clients that have sent few may go on
// beyond kMaxKeys for a while. Owned by HandlerContext. Thread-safe.
class Idempotency {
  public:
    static constexpr std::size_t kMaxKeys = 100'000;
    static constexpr std::size_t kMaxKeysOfClient = kMaxKeys / 2;

    struct Limits {
        std::size_t keys = 0;
        std::size_t of_client = 0;
    };
    // `store` and `ids` must outlive the object.
    Idempotency(store::Store& store, UuidGenerator& ids)
        : Idempotency(store, ids, {.keys = kMaxKeys, .of_client = kMaxKeysOfClient}) {}
    Idempotency(store::Store& store, UuidGenerator& ids, const Limits& limits)
        : store_(store), ids_(ids), limits_(limits) {}

    // Returns the stored answer, or calls `handler` and stores its answer. Without a key it only
    // calls `handler`. A key that came with another request is a 422, one whose request is in
    // progress a 409.
    Result<http_server::Response> Run(const http_server::Request& request,
                                      const CallHandler& handler);

  private:
    struct Held {
        codec::StoredAnswer answer;
        std::int64_t version = 0;  // of the document; 0: this request does not hold the key
        bool again = false;
    };

    // The keys of clients in a period of half a day: a key counts for this and the next period.
    using Counts = std::unordered_map<std::string, std::size_t>;

    Result<Held> Take(const std::string& key, const std::string& hash, const std::string& client);
    Result<std::optional<Held>> TryTake(const std::string& key, const std::string& hash,
                                        const std::string& client);
    Result<std::int64_t> Put(const std::string& key, const codec::StoredAnswer& answer,
                             std::int64_t expected, TimePoint now);
    Result<void> Keep(const std::string& key, Held& held, const http_server::Response& response);
    Result<void> CheckRoom(const std::string& client, TimePoint now);
    std::size_t KeysOf(const std::string& client, TimePoint now) KSANA_REQUIRES(mutex_);
    Result<std::size_t> CountKeys();

    store::Store& store_;
    UuidGenerator& ids_;
    const Limits limits_;
    Mutex mutex_;
    std::optional<std::size_t> keys_ KSANA_GUARDED_BY(mutex_);  // approximate number of stored keys
    std::optional<TimePoint> counted_ KSANA_GUARDED_BY(mutex_);  // time of the last count
    TimePoint period_ KSANA_GUARDED_BY(mutex_){};                // its beginning
    Counts recent_ KSANA_GUARDED_BY(mutex_);                     // in this period
    Counts former_ KSANA_GUARDED_BY(mutex_);                     // in the one before
};

}  // namespace ksana::api
