#pragma once

#include <vector>

#include "ksana/http_client/client.hpp"
#include "ksana/http_server/statistics.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// Metrics from the counts of the HTTP server and the HTTP client, read at each scrape. Owned by
// Application. `server` and `client` must outlive this object.
class HttpMetrics {
  public:
    HttpMetrics(telemetry::Registry& registry, const http_server::Statistics& server,
                const http_client::Client& client);

  private:
    std::vector<telemetry::CallbackHandle> callbacks_;
};

}  // namespace ksana::server
