#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/handlers.hpp"
#include "ksana/codec/schema/schema.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using engine::NodeStatus;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Response;

std::string NodeText(const NodeStatus& status) {
    const model::ServerNode& node = status.node;
    return ObjectText()
        .Put("name", node.name)
        .Put("incarnation", node.incarnation)
        .Put("state", model::NameOf(status.state))
        .Put("address", node.address)
        .Put("version", node.version)
        .Put("started_at", node.started_at)
        .Put("heartbeat_at", node.heartbeat_at)
        .Put("slots", static_cast<std::int64_t>(node.slots))
        .Put("busy", static_cast<std::int64_t>(node.busy))
        .Put("lease", node.lease)
        .Put("self", status.self)
        .Take();
}

Result<std::vector<NodeStatus>> AllNodes(const HandlerContext& context) {
    if (!context.services.nodes) return std::vector<NodeStatus>();
    return context.services.nodes();
}

Result<Response> ListNodes(const HandlerContext& context, const Call& call) {
    KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
    KSANA_TRY(const std::vector<NodeStatus> nodes, AllNodes(context));
    std::vector<std::string> items;
    for (const NodeStatus& node : nodes) items.push_back(NodeText(node));
    return JsonResponse(200, fmt::format("{{\"items\":[{}]}}", fmt::join(items, ",")));
}

Result<Response> GetNode(const HandlerContext& context, const Call& call) {
    KSANA_TRY_VOID(api::QueryReader(call.request).Finish());
    KSANA_TRY(const std::vector<NodeStatus> nodes, AllNodes(context));
    const std::string& name = call.request.Parameter("name");
    for (const NodeStatus& node : nodes) {
        if (node.node.name == name) return JsonResponse(200, NodeText(node));
    }
    return Error(Code::kNotFound, fmt::format("there is no node \"{}\"", name));
}

constexpr Parameter kNodeName{
    .name = "name", .means = "Name of a server.", .place = Place::kPath, .example = "node-1"};

Schema MakeNode() {
    return ObjectSchema("A server among those that share the store.")
        .Need("name", Schema::Text().Means("node_name, or a name drawn at its start."))
        .Need("incarnation", Schema::Text().Means("Drawn at its start."))
        .Need("state",
              Schema::Name<model::NodeState>().Means(
                  "stopping: it starts nothing more; down: it has died, or was silent for longer "
                  "than its lease; gone: it has stopped. The last two are shown for a day."))
        .Need("address", Schema::Text().Means("URL of its API; empty if it has none."))
        .Need("version", Schema::Text().Means("Of the program."))
        .Need("started_at", Schema::Time().Means("When it was started."))
        .Need("heartbeat_at", Schema::Time().Means("Its last sign of life."))
        .Need("slots", Schema::Count().Means("Attempts that it can have under way at once."))
        .Need("busy", Schema::Count().Means("Attempts under way, at its last sign of life."))
        .Need("lease",
              Schema::Length().Means("After so long without a sign of life it counts as down."))
        .Need("self", Schema::Flag().Means("Whether it is the server that answers."));
}

constexpr codec::NamedSchema kNode{"Node", &MakeNode};

Schema MakeNodeList() {
    return ObjectSchema("All servers.")
        .Need("items", Schema::ListOf(Schema::Ref(kNode)).Means("By name."));
}

constexpr codec::NamedSchema kNodeList{"NodeList", &MakeNodeList};

constexpr RouteInfo kListNodes{.method = HttpMethod::kGet,
                               .path = "/nodes",
                               .permission = Permission::kRead,
                               .id = "listNodes",
                               .tag = Tag::kServer,
                               .summary = "Lists the servers that share the store",
                               .answers = {{{200, "All of them.", &kNodeList}}}};

constexpr RouteInfo kGetNode{.method = HttpMethod::kGet,
                             .path = "/nodes/{name}",
                             .permission = Permission::kRead,
                             .id = "getNode",
                             .tag = Tag::kServer,
                             .summary = "Shows a server",
                             .subject = &kNodeName,
                             .answers = {{{200, "The server.", &kNode}}}};

}  // namespace

void AddNodeRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, kListNodes,
             [context](const Call& call) { return ListNodes(*context, call); });
    AddRoute(router, context, kGetNode,
             [context](const Call& call) { return GetNode(*context, call); });
}

}  // namespace ksana::api
