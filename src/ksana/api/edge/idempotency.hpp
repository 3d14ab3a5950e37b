#pragma once

#include <functional>
#include <optional>
#include <string>

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
// stored keys, new ones are refused (kExhausted). Owned by HandlerContext. Thread-safe.
class Idempotency {
  public:
    static constexpr std::size_t kMaxKeys = 100'000;

    // `store` and `ids` must outlive the object.
    Idempotency(store::Store& store, UuidGenerator& ids, std::size_t max_keys = kMaxKeys)
        : store_(store), ids_(ids), max_keys_(max_keys) {}

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

    Result<Held> Take(const std::string& key, const std::string& hash);
    Result<std::optional<Held>> TryTake(const std::string& key, const std::string& hash);
    Result<std::int64_t> Put(const std::string& key, const codec::StoredAnswer& answer,
                             std::int64_t expected, TimePoint now);
    Result<void> Keep(const std::string& key, Held& held, const http_server::Response& response);
    Result<void> CheckRoom();
    Result<std::size_t> CountKeys();

    store::Store& store_;
    UuidGenerator& ids_;
    const std::size_t max_keys_;
    Mutex mutex_;
    std::optional<std::size_t> keys_ KSANA_GUARDED_BY(mutex_);  // approximate number of stored keys
    std::optional<TimePoint> counted_ KSANA_GUARDED_BY(mutex_);  // time of the last count
};

}  // namespace ksana::api
