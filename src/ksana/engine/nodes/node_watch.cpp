#include "ksana/engine/nodes/node_watch.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {
namespace {

using model::ServerNode;

// Bounds the rows that are read. Rows of dead nodes are deleted after a day, so only a server
// without a name that restarts every few seconds could make so many.
constexpr std::size_t kMaxRows = 20'000;

// Part of the time between two looks that must lie between two misses: the loop may be woken early.
constexpr Duration kLeastApart = NodeWatch::kLook * 9 / 10;

bool IsNoLongerTheirs(const Result<void>& done) {
    return !done && (done.error().code == Code::kNotFound || done.error().code == Code::kLeaseLost);
}

}  // namespace

NodeWatch::NodeWatch(store::Store& store, const Clock& clock, Options options)
    : store_(store), clock_(clock), options_(std::move(options)) {}

ServerNode NodeWatch::Self() const {
    ServerNode self = options_.self;
    if (options_.address) self.address = options_.address();
    if (options_.load) options_.load(self);
    self.stopping = stopping_;
    return self;
}

Result<void> NodeWatch::Join() {
    if (!options_.shared) return {};
    KSANA_TRY(const ServerNode stored, store_.nodes().Register(Self()));
    stored_at_ = stored.heartbeat_at;
    stopping_stored_ = stored.stopping;
    beat_at_ = clock_.SteadyNow() + options_.self.lease / 3;
    changed_ = true;
    replaced_ = false;
    joined_ = true;
    return {};
}

// Another server under the same name is a mistake in the configuration. Its row stays: two servers
// that replace each other would help nobody, and the leases of the runs still decide.
Result<void> NodeWatch::Beat(SteadyPoint now) {
    const bool stopping = stopping_;
    auto stored = store_.nodes().Beat(Self());
    if (!stored && stored.error().code == Code::kNotFound) return Join();
    beat_at_ = now + options_.self.lease / 3;
    changed_ = true;
    if (!stored && stored.error().code == Code::kLeaseLost) {
        if (!replaced_) {
            Log(LogLevel::kError, "another server has the name of this one; set another node_name",
                {{"node", options_.self.name}});
        }
        replaced_ = true;
        stopping_stored_ = stopping;
        return {};
    }
    if (!stored) return std::move(stored).error();
    stored_at_ = stored->heartbeat_at;
    stopping_stored_ = stopping;
    return {};
}

Result<NodeWatch::Nodes> NodeWatch::Read() const {
    Nodes nodes;
    store::ListParams params{.prefix = {}, .limit = store::kMaxPageSize, .cursor = {}};
    while (nodes.size() < kMaxRows) {
        KSANA_TRY(auto page, store_.nodes().List(params));
        std::ranges::move(page.items, std::back_inserter(nodes));
        params.cursor = page.next;
        if (page.next.empty()) break;
    }
    return nodes;
}

// Keeps the nodes that may own runs, and deletes the rows of those that are long gone.
Result<void> NodeWatch::ReadOthers() {
    KSANA_TRY(const Nodes nodes, Read());
    others_.clear();
    for (const ServerNode& node : nodes) {
        if (node.incarnation == options_.self.incarnation) continue;
        if (model::IsForgettable(node, stored_at_)) {
            const auto forgotten = store_.nodes().Forget(node.name, node.incarnation);
            if (!forgotten && !IsNoLongerTheirs(forgotten)) return forgotten.error();
            continue;
        }
        if (!node.gone && !node.down) others_.push_back(node);
    }
    return {};
}

NodeWatch::Nodes NodeWatch::FindDead(const std::vector<std::string>& absent, SteadyPoint now) {
    std::erase_if(suspects_, [&](const auto& suspect) {
        return std::ranges::find(absent, suspect.first) == absent.end();
    });
    Nodes dead;
    for (const ServerNode& node : others_) {
        if (std::ranges::find(absent, node.incarnation) == absent.end()) continue;
        const auto [suspect, is_new] = suspects_.emplace(node.incarnation, now);
        if (!is_new && now - suspect->second >= kLeastApart) dead.push_back(node);
    }
    return dead;
}

// The runs come first: a row that is marked is not looked at again.
Result<void> NodeWatch::Bury(const Nodes& dead) {
    std::vector<std::string> owners;
    for (const ServerNode& node : dead) {
        Log(LogLevel::kWarn, "a server has died; its runs start elsewhere",
            {{"node", node.name}, {"incarnation", node.incarnation}, {"address", node.address}});
        owners.push_back(model::OwnerOf(node));
    }
    KSANA_TRY_VOID(options_.take_back(owners));
    for (const ServerNode& node : dead) {
        const auto marked = store_.nodes().MarkDown(node.name, node.incarnation);
        if (!marked && !IsNoLongerTheirs(marked)) return marked.error();
        suspects_.erase(node.incarnation);
        std::erase_if(others_, [&](const ServerNode& other) {
            return other.incarnation == node.incarnation;
        });
    }
    return {};
}

Result<void> NodeWatch::Look(SteadyPoint now) {
    look_at_ = now + kLook;
    std::vector<std::string> incarnations;
    for (const ServerNode& node : others_) incarnations.push_back(node.incarnation);
    auto absent = store_.nodes().WithoutSession(incarnations);
    if (!absent || !*absent) suspects_.clear();
    if (!absent) return std::move(absent).error();
    if (!*absent) return {};
    const Nodes dead = FindDead(**absent, now);
    if (dead.empty()) return {};
    return Bury(dead);
}

Result<Step> NodeWatch::RunOnce() {
    const SteadyPoint now = clock_.SteadyNow();
    Step step;
    if (!joined_) return step;
    if (now >= beat_at_ || stopping_ != stopping_stored_) KSANA_TRY_VOID(Beat(now));
    if (changed_.exchange(false)) {
        if (auto read = ReadOthers(); !read) {
            changed_ = true;
            return std::move(read).error();
        }
    }
    if (!others_.empty() && now >= look_at_) KSANA_TRY_VOID(Look(now));
    step.NotAfter(std::chrono::ceil<Duration>(beat_at_ - now));
    if (!others_.empty()) step.NotAfter(std::chrono::ceil<Duration>(look_at_ - now));
    return step;
}

void NodeWatch::Leave() {
    if (!joined_.exchange(false)) return;
    const auto left = store_.nodes().Leave(options_.self.name, options_.self.incarnation);
    if (left || IsNoLongerTheirs(left)) return;
    Log(LogLevel::kWarn, "the other servers could not be told of the stop",
        {{"error", left.error().Describe()}});
}

Result<std::vector<NodeStatus>> NodeWatch::All() const {
    KSANA_TRY(const TimePoint now, store_.Now());
    KSANA_TRY(Nodes nodes, Read());
    ServerNode self = Self();
    self.heartbeat_at = now;
    std::erase_if(nodes, [&](const ServerNode& node) {
        if (node.incarnation != self.incarnation) return false;
        self.started_at = node.started_at;
        return true;
    });
    nodes.push_back(std::move(self));
    std::ranges::sort(
        nodes, {}, [](const ServerNode& node) { return std::pair(node.name, node.incarnation); });
    std::vector<NodeStatus> all;
    for (ServerNode& node : nodes) {
        const model::NodeState state = model::StateOf(node, now);
        const bool is_self = node.incarnation == options_.self.incarnation;
        all.push_back({std::move(node), state, is_self});
    }
    return all;
}

}  // namespace ksana::engine
