#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "api/call_router.hpp"
#include "engine/service_fixture.hpp"
#include "ksana/api/events/event_streams.hpp"
#include "ksana/api/v1/routes.hpp"
#include "ksana/engine/agents/agent_polls.hpp"
#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/alerts/alert_service.hpp"
#include "ksana/engine/backfill/backfill_service.hpp"
#include "ksana/engine/calendars/calendar_service.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/engine/services/task_service.hpp"
#include "ksana/engine/services/type_cache.hpp"
#include "ksana/engine/services/type_service.hpp"
#include "ksana/engine/workers/worker_service.hpp"
#include "ksana/insight/explain/explain.hpp"

namespace ksana::api {

// /api/v1 over a store in memory, called without a connection. For the thread of the test.
class V1Fixture : public engine::ServiceFixture {
  protected:
    using Response = http_server::Response;
    using Header = std::pair<std::string, std::string>;

    V1Fixture() { Mount(router_); }

    // Adds the routes that a restarted server, or another node, would have over the same store.
    void Mount(http_server::Router& router) {
        router.SetAuthorize([](const auto&, auto) -> Result<http_server::Caller> {
            return http_server::Caller{.name = "me"};
        });
        AddRoutes(router, {.jobs = service_,
                           .runs = runs_,
                           .backfills = backfills_,
                           .tasks = tasks_,
                           .agents = agents_,
                           .agent_polls = agent_polls_,
                           .workers = workers_,
                           .events = events_,
                           .store = *store_,
                           .random = random_,
                           .ids = ids_,
                           .schedules = book_,
                           .zones = zones_,
                           .calendars = calendar_service_,
                           .alerts = alerts_,
                           .types = types_,
                           .node_view = [this] { return node_view_; },
                           .version = "1.2.3",
                           .quick_reads = false,
                           .settings = {{"port", "7100", "default"}}});
    }

    Response Do(HttpMethod method, const std::string& target, const std::string& body = "",
                const std::vector<Header>& headers = {}) {
        auto request = api::MakeRequest(method, "/api/v1" + target, body);
        for (const auto& [name, value] : headers) request.headers.Add(name, value);
        return api::CallRouter(router_, std::move(request));
    }
    Response Get(const std::string& target, const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kGet, target, "", headers);
    }
    Response Post(const std::string& target, const std::string& body = "",
                  const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kPost, target, body, headers);
    }

    static std::string JobText(const std::string& id, const std::string& more = "") {
        return fmt::format(R"({{"id":"{}","name":"n {}","type":"http",)"
                           R"("http":{{"url":"http://127.0.0.1/"}},)"
                           R"("schedule":{{"kind":"every","every":"5m"}}{}}})",
                           id, id, more);
    }
    void Make(const std::string& id, const std::string& more = "") {
        const Response made = Post("/jobs", JobText(id, more));
        ASSERT_EQ(made.status, 201) << made.body;
    }

    engine::RunService runs_{*store_, ids_};
    engine::AlertService alerts_{*store_, zones_, ids_, {}};
    insight::NodeView node_view_{.slots = 4, .busy = 0, .starts_held_back = false};
    engine::BackfillService backfills_{*store_, book_, ids_};
    engine::TypeCache type_book_{*store_};
    engine::TypeService types_{*store_, type_book_};
    engine::TaskService tasks_{
        *store_, [this](const std::string& code) { return type_book_.Find(code); }, {}};
    engine::AgentService agents_{*store_, {}};
    engine::AgentPolls agent_polls_{agents_, *store_, clock_, {.max_polls = 2}};
    engine::WorkerDirectory directory_{*store_, clock_, model::kDefaultWorkerSilence};
    engine::AgentPresence presence_{clock_};
    engine::WorkerService workers_{*store_, directory_, presence_, {}};
    EventStreams events_{*store_, clock_, {}};
    http_server::Router router_;
};

inline bool Has(const http_server::Response& response, std::string_view part) {
    return response.body.find(part) != std::string::npos;
}

// Returns the text of the first member of that name, or "".
inline std::string TextOf(const http_server::Response& response, const std::string& name) {
    const std::string key = "\"" + name + "\":\"";
    const std::size_t at = response.body.find(key);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + key.size();
    return response.body.substr(begin, response.body.find('"', begin) - begin);
}

// Returns every "id" of a page, in order.
inline std::vector<std::string> IdsOf(const http_server::Response& response) {
    constexpr std::string_view kKey = "{\"id\":\"";
    std::vector<std::string> ids;
    std::size_t at = 0;
    while ((at = response.body.find(kKey, at)) != std::string::npos) {
        at += kKey.size();
        ids.push_back(response.body.substr(at, response.body.find('"', at) - at));
    }
    return ids;
}

}  // namespace ksana::api
