#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/lock_etcd/open_etcd_locks.hpp"

namespace ksana::lock_etcd {

// Calls of etcd's JSON gateway, with endpoints in turn and authentication. A call may reach the
// server twice, if the connection breaks before the answer: callers must expect that. Owned by the
// driver. Thread-safe; a call blocks its thread while the thread of the HTTP client does the work.
class EtcdCalls {
  public:
    explicit EtcdCalls(EtcdLockOptions options);

    Result<void> Start();

    // Returns the answer. An endpoint that does not answer gets an equal share of the time that is
    // left, so that the other endpoints can still be asked.
    Result<codec::Json> Post(std::string_view path, const std::string& body, SteadyPoint deadline);

    // Sends a call to the endpoint that answered last and ignores its answer.
    void PostLater(std::string_view path, std::string body);

    SteadyPoint Deadline() const { return options_.clock.SteadyNow() + options_.timeout; }
    const EtcdLockOptions& options() const { return options_; }
    std::string Location() const;

  private:
    Result<codec::Json> PostInTurn(std::string_view path, const std::string& body,
                                   const std::string& token, SteadyPoint deadline);
    http_client::CallAnswer PostTo(const EtcdEndpoint& endpoint, std::string_view path,
                                   const std::string& body, const std::string& token,
                                   SteadyPoint until);
    http_client::CallRequest MakeCall(const EtcdEndpoint& endpoint, std::string_view path,
                                      std::string body, const std::string& token,
                                      Duration timeout) const;
    // Returns a token other than `refused`; "" if the server does not check users.
    Result<std::string> Token(const std::optional<std::string>& refused, SteadyPoint deadline);

    const EtcdLockOptions options_;
    std::atomic<std::size_t> last_good_{0};  // index of the endpoint that answered last
    Mutex mutex_;
    std::optional<std::string> token_ KSANA_GUARDED_BY(mutex_);
    http_client::Client client_;  // last: its thread ends before the rest is destroyed
};

}  // namespace ksana::lock_etcd
