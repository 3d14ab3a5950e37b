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

// One request as a handler sees it.
struct Call {
    const http_server::Request& request;
    // The id for what the request makes: the same when it is repeated with its Idempotency-Key, so
    // that a try that was cut off after its commit finds what it made. None: draw one.
    std::optional<Uuid> id;
    bool again = false;  // an earlier try has begun and left no answer
};

using CallHandler = std::function<Result<http_server::Response>(const Call&)>;

// Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a request that comes again with its
// key gets the answer of the first time, for a day, on every node and after a restart. An answer
// that changed nothing (4xx) is not kept, so that the key can be used for the corrected request;
// after a 5xx the same request may be tried again at once. What has expired is deleted by the
// engine's retention; with kMaxKeys there are no new ones (kExhausted). Thread-safe.
class Idempotency {
  public:
    static constexpr std::size_t kMaxKeys = 100'000;

    // Both must outlive it.
    Idempotency(store::Store& store, UuidGenerator& ids, std::size_t max_keys = kMaxKeys)
        : store_(store), ids_(ids), max_keys_(max_keys) {}

    // Without a key the handler is just called.
    Result<http_server::Response> Run(const http_server::Request& request,
                                      const CallHandler& handler);

  private:
    struct Held {
        codec::StoredAnswer answer;
        std::int64_t version = 0;  // of its document
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
    std::optional<std::size_t> keys_ KSANA_GUARDED_BY(mutex_);   // about how many there are
    std::optional<TimePoint> counted_ KSANA_GUARDED_BY(mutex_);  // when
};

}  // namespace ksana::api
