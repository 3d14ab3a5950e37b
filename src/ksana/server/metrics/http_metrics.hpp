#pragma once

#include <vector>

#include "ksana/http_client/client.hpp"
#include "ksana/http_server/statistics.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// What the server and the client of HTTP have counted. Must go before what it looks at.
class HttpMetrics {
  public:
    HttpMetrics(telemetry::Registry& registry, const http_server::Statistics& server,
                const http_client::Client& client);

  private:
    std::vector<telemetry::CallbackHandle> callbacks_;
};

}  // namespace ksana::server
