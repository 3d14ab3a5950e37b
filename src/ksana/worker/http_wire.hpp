#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/worker/server_list.hpp"
#include "ksana/worker/wire.hpp"

namespace ksana::worker {

struct HttpWireOptions {
    std::string servers;  // "URL,URL"
    std::string ca_file;  // PEM; empty: the system's
    // Returns the bearer token; "": none is sent. Called at the start, and again when a server does
    // not accept the token any more, so that a new one needs no restart. Empty: no token.
    std::function<Result<std::string>()> token;
};

// Calls the servers over HTTP, on the thread of its HTTP client. Calls that are under way at the
// same time have connections of their own, so a long poll holds up no renewal. Owned by the worker.
class HttpWire final : public Wire, public Service {
    struct Key {};  // only Make can construct one

  public:
    // `clock` and `random` must outlive the wire. kInvalidArgument: a server is no URL, or the
    // token cannot be read.
    static Result<std::unique_ptr<HttpWire>> Make(HttpWireOptions options, const Clock& clock,
                                                  Random& random);
    HttpWire(Key key, HttpWireOptions options, ServerList servers, const Clock& clock,
             Random& random);
    ~HttpWire() override;

    std::string_view name() const override { return "wire"; }
    Result<void> Start() override { return client_.Start(); }
    // Ends the calls under way; their `done` gets an error.
    void Stop() override { client_.Stop(); }

    CallId Send(WireCall call, Done done) override;
    void Cancel(CallId id) override { client_.Cancel(id); }
    void Leave() override;
    std::uint64_t turns() const override;
    bool reachable() const override;
    std::string server() const override;

  private:
    WireAnswer Read(std::size_t server, const std::string& url,
                    const http_client::CallAnswer& answer);
    void ReadTokenAgain();

    const HttpWireOptions options_;
    Random& random_;
    mutable Mutex mutex_;
    ServerList servers_ KSANA_GUARDED_BY(mutex_);
    std::string token_ KSANA_GUARDED_BY(mutex_);
    http_client::Client client_;
};

}  // namespace ksana::worker
