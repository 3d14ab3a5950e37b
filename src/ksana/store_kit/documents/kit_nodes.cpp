#include "ksana/store_kit/documents/kit_nodes.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/codec/records/document_codec.hpp"

namespace ksana::store_kit {
namespace {

using model::Document;
using model::ServerNode;

// Returns the row of this incarnation.
Result<ServerNode> OwnRow(const std::optional<Document>& there, const std::string& name,
                          const std::string& incarnation) {
    if (!there) return Error(Code::kNotFound, fmt::format("there is no node \"{}\"", name));
    KSANA_TRY(ServerNode node, codec::NodeFromJson(there->body));
    if (node.incarnation == incarnation) return node;
    return Error(Code::kLeaseLost, fmt::format("another server has the name \"{}\"", name));
}

}  // namespace

Result<ServerNode> KitNodes::Register(ServerNode node, std::optional<TimePoint> now) {
    KSANA_TRY_VOID(documents_.Update(
        node.name, now,
        [&](const std::optional<Document>&, TimePoint at) -> Result<std::optional<std::string>> {
            node.started_at = at;
            node.heartbeat_at = at;
            node.stopping = node.down = node.gone = false;
            return std::optional(codec::NodeToJson(node));
        }));
    backend_.HoldSession(node.incarnation);
    return node;
}

Result<ServerNode> KitNodes::Beat(ServerNode node, std::optional<TimePoint> now) {
    KSANA_TRY_VOID(documents_.Update(
        node.name, now,
        [&](const std::optional<Document>& there,
            TimePoint at) -> Result<std::optional<std::string>> {
            KSANA_TRY(const ServerNode before, OwnRow(there, node.name, node.incarnation));
            node.started_at = before.started_at;
            // A late heartbeat must not set the time back.
            node.heartbeat_at = std::max(before.heartbeat_at, at);
            node.down = node.gone = false;
            return std::optional(codec::NodeToJson(node));
        },
        Documents::Notice::kNone));
    return node;
}

Result<void> KitNodes::SetFlag(const std::string& name, const std::string& incarnation,
                               bool ServerNode::*flag) {
    return documents_.Update(
        name, std::nullopt,
        [&](const std::optional<Document>& there, TimePoint) -> Result<std::optional<std::string>> {
            KSANA_TRY(ServerNode node, OwnRow(there, name, incarnation));
            node.*flag = true;
            return std::optional(codec::NodeToJson(node));
        });
}

Result<void> KitNodes::Leave(const std::string& name, const std::string& incarnation) {
    return SetFlag(name, incarnation, &ServerNode::gone);
}

Result<void> KitNodes::MarkDown(const std::string& name, const std::string& incarnation) {
    return SetFlag(name, incarnation, &ServerNode::down);
}

Result<void> KitNodes::Forget(const std::string& name, const std::string& incarnation) {
    KSANA_TRY(const Document there, documents_.Get(name));
    KSANA_TRY([[maybe_unused]] const ServerNode own, OwnRow(there, name, incarnation));
    auto deleted = documents_.Delete(name, there.version);
    if (deleted || deleted.error().code != Code::kConflict) return deleted;
    return Error(Code::kLeaseLost, fmt::format("node \"{}\" is back", name));
}

Result<ServerNode> KitNodes::Get(const std::string& name) {
    KSANA_TRY(const Document document, documents_.Get(name));
    return codec::NodeFromJson(document.body);
}

Result<store::Page<ServerNode>> KitNodes::List(const store::ListParams& params) {
    KSANA_TRY(auto documents, documents_.List(params));
    store::Page<ServerNode> page;
    for (const Document& document : documents.items) {
        auto node = codec::NodeFromJson(document.body);
        if (!node) return std::move(node).error().WithContext("node " + document.key);
        page.items.push_back(*std::move(node));
    }
    page.next = std::move(documents.next);
    return page;
}

Result<std::optional<std::vector<std::string>>> KitNodes::WithoutSession(
    const std::vector<std::string>& incarnations) {
    return backend_.WithoutSession(incarnations);
}

}  // namespace ksana::store_kit
