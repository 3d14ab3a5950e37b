#pragma once

#include <string_view>

#include "ksana/store/node_store.hpp"
#include "ksana/store_kit/documents/documents.hpp"

namespace ksana::store_kit {

inline constexpr std::string_view kNodeKind = "node";

// Keeps the nodes as JSON documents. Thread-safe; `backend` must outlive it.
class KitNodes final : public store::NodeStore {
  public:
    explicit KitNodes(Backend& backend)
        : backend_(backend), documents_(backend, std::string(kNodeKind)) {}

    Result<model::ServerNode> Register(model::ServerNode node,
                                       std::optional<TimePoint> now) override;
    Result<model::ServerNode> Beat(model::ServerNode node, std::optional<TimePoint> now) override;
    Result<void> Leave(const std::string& name, const std::string& incarnation) override;
    Result<void> MarkDown(const std::string& name, const std::string& incarnation) override;
    Result<void> Forget(const std::string& name, const std::string& incarnation) override;
    Result<model::ServerNode> Get(const std::string& name) override;
    Result<store::Page<model::ServerNode>> List(const store::ListParams& params) override;
    void HoldSession(const std::string& incarnation) override { backend_.HoldSession(incarnation); }
    Result<std::optional<std::vector<std::string>>> WithoutSession(
        const std::vector<std::string>& incarnations) override;

  private:
    Result<void> SetFlag(const std::string& name, const std::string& incarnation,
                         bool model::ServerNode::*flag);

    Backend& backend_;
    Documents documents_;
};

}  // namespace ksana::store_kit
