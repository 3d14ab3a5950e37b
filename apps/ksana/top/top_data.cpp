#include "apps/ksana/top/top_data.hpp"

#include <algorithm>

namespace ksana::app {
namespace {

using client::ApiAnswer;
using client::ApiPath;
using codec::Json;

// A server that is not ready answers with an error; its message says why.
void ReadHealth(const Result<ApiAnswer>& answer, TopData& data) {
    data.ready = answer.has_value();
    data.health = answer ? "ok" : answer.error().message;
}

Result<std::vector<Json>> Items(client::ApiClient& api, std::string path, client::Query query,
                                std::string& version) {
    KSANA_TRY(const ApiAnswer answer, api.Get(std::move(path), std::move(query)));
    if (version.empty()) version = answer.HeaderValue("Ksana-Version");
    return answer.json.At("/items").Items();
}

}  // namespace

Result<TopData> AskTopData(client::ApiClient& api, Clock& clock, std::size_t rows) {
    TopData data;
    data.server = api.server();
    const std::string limit = std::to_string(std::clamp<std::size_t>(rows, 1, 100));
    KSANA_TRY(data.next, Items(api, ApiPath({"jobs"}),
                               {{"enabled", "true"}, {"sort", "next_run_at"}, {"limit", limit}},
                               data.version));
    // Jobs without a next fire come first or last, depending on the store's order.
    std::erase_if(data.next, [](const Json& job) { return !job.Has("/next_run_at"); });
    KSANA_TRY(data.running, Items(api, ApiPath({"runs"}), {{"state", "running"}, {"limit", limit}},
                                  data.version));
    KSANA_TRY(data.failures, Items(api, ApiPath({"runs"}),
                                   {{"state", "failed"},
                                    {"state", "timed_out"},
                                    {"sort", "-finished_at"},
                                    {"limit", limit}},
                                   data.version));
    ReadHealth(api.Get("/readyz"), data);
    if (const auto metrics = api.Get("/metrics")) data.metrics.emplace(metrics->body);
    data.at = clock.Now();
    data.steady = clock.SteadyNow();
    return data;
}

}  // namespace ksana::app
