#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/ksana/top/metrics_text.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/client/api_client.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// The state of a server at one moment.
struct TopData {
    TimePoint at{};
    SteadyPoint steady{};
    std::string server;
    std::string version;
    bool ready = false;
    std::string health;  // "ok", or the reason why the server is not ready
    // none: /metrics could not be read, for example without permission
    std::optional<MetricsText> metrics;
    std::vector<codec::Json> next;      // jobs, soonest fire first
    std::vector<codec::Json> running;   // runs, the newest first
    std::vector<codec::Json> failures;  // runs, last ended first
};

// Fetches everything, with at most `rows` items in each list. Fails if a list cannot be fetched;
// health and metrics may be missing.
Result<TopData> AskTopData(client::ApiClient& api, Clock& clock, std::size_t rows);

}  // namespace ksana::app
