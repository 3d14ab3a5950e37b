#include "sim/sim_limits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ksana/codec/records/limit_share_codec.hpp"
#include "ksana/engine/limits/limit_shares.hpp"
#include "sim/sim_backend.hpp"

namespace ksana::sim {

using std::chrono::milliseconds;

void LimitChecks::Limit(std::string group, model::Limit limit, bool shared) {
    group_ = std::move(group);
    limit_ = std::move(limit);
    shared_ = shared;
}

bool LimitChecks::InContact(const std::string& owner) const {
    if (!shared_) return true;
    const auto until = held_until_.find(owner);
    return until != held_until_.end() && until->second > world_.store_clock().Now();
}

void LimitChecks::Begin(const std::string& group, const model::Run& run) {
    if (!limit_ || group != group_) return;
    const std::string& owner = run.status.owner;
    if (!InContact(owner)) {
        return Fail(fmt::format("{} starts a call of group {} without a share", owner, group), run);
    }
    Count(group, owner, run);
}

void LimitChecks::ClaimTask(const std::string& owner, const model::Run& run) {
    calls_[run.status.exec_id] = {.owner = owner, .counts = InContact(owner), .begun = false};
}

void LimitChecks::BeginTask(const std::string& type, const model::Run& run) {
    const auto call = calls_.find(run.status.exec_id);
    if (!limit_ || type != group_ || call == calls_.end()) return;
    call->second.begun = true;
    const std::string owner = call->second.owner;
    if (call->second.counts && InContact(owner)) Count(type, owner, run);
}

void LimitChecks::Count(const std::string& group, const std::string& owner, const model::Run& run) {
    calls_[run.status.exec_id] = {.owner = owner, .counts = true, .begun = true};
    const auto count = std::ranges::count_if(calls_, [&](const auto& call) {
        const bool own = shared_ || call.second.owner == owner;
        return own && call.second.counts && call.second.begun && InContact(call.second.owner);
    });
    if (limit_->max_concurrency && count > *limit_->max_concurrency) {
        std::string all;
        for (const auto& [exec_id, call] : calls_)
            all += fmt::format(" {} of {}", exec_id, call.owner);
        Fail(fmt::format("{} of group {} are under way instead of {}:{}", count, group,
                         *limit_->max_concurrency, all),
             run);
    }
    if (shared_ && limit_->rate) CheckRate(run);
}

void LimitChecks::CheckRate(const model::Run& run) {
    const model::Rate& rate = *limit_->rate;
    const TimePoint now = world_.now();
    starts_.push_back(now);
    // Starts are counted with a precision of ten milliseconds.
    while (starts_.front() <= now - rate.per + milliseconds(10)) starts_.pop_front();
    if (std::cmp_less_equal(starts_.size(), rate.count + rate.burst - 1)) return;
    Fail(fmt::format("{} of group {} were started in one period instead of {}", starts_.size(),
                     group_, rate.count),
         run);
}

void LimitChecks::Abandon(const std::string& owner) {
    for (auto& [exec_id, call] : calls_) call.counts &= call.owner != owner;
}

// Only what a node says of itself counts: another one could be wrong about it.
void LimitChecks::OnDocument(const model::Document& document) {
    if (!document.key.starts_with(engine::kShareSettings)) return;
    const auto book = codec::ShareBookFromJson(document.body);
    if (!book) return;
    const std::string by = fmt::format("node{}/", world_.actor());
    const TimePoint now = world_.store_clock().Now();
    for (const model::NodeShare& node : book->nodes) {
        if (!node.owner.starts_with(by)) continue;
        TimePoint& until = held_until_[node.owner];
        if (until <= now) Abandon(node.owner);
        until = std::max(until, node.until);
    }
}

void LimitChecks::Fail(std::string what, const model::Run& run) {
    world_.Fail({.invariant = "I15",
                 .what = std::move(what),
                 .job_id = StoryOf(run),
                 .run_id = run.id.ToString()});
}

}  // namespace ksana::sim
