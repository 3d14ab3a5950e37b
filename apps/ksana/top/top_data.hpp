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

// What a server says about itself at one moment.
struct TopData {
    TimePoint at{};
    SteadyPoint steady{};
    std::string server;
    std::string version;
    bool ready = false;
    std::string health;                  // what is wrong, one a line
    std::optional<MetricsText> metrics;  // none: not for us to see
    std::vector<codec::Json> next;       // jobs, the soonest first
    std::vector<codec::Json> running;    // runs, the newest first
    std::vector<codec::Json> failures;   // runs, those that ended last first
};

// Asks for all of it; `rows` of each list. The error is the first one that leaves nothing to show.
Result<TopData> AskTopData(client::ApiClient& api, Clock& clock, std::size_t rows);

}  // namespace ksana::app
