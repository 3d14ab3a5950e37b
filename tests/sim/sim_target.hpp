#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ksana/engine/dispatch/executor.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_limits.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// The targets that are called. Records every start that reached them, checks the fence as a careful
// receiver does, and knows the answer to each attempt. Runs on the world's thread; reports
// violations to the world.
class Targets {
  public:
    explicit Targets(World& world) : world_(world) {}

    // A call arrives. Returns false, which refuses it, if an attempt with a higher fence was there
    // before.
    bool Arrive(const engine::ActiveAttempt& attempt);
    // The same for an agent that fetches runs.
    bool Arrive(const model::Run& run);
    // Records the answer to an attempt that is under way or ends with it.
    void Answered(const model::Run& run, model::EventKind kind) {
        answers_[run.status.exec_id] = kind;
        if (kind == model::EventKind::kSuccess) done_.insert(run.id);
    }
    // The same for a consumer of the message broker: two of them may have one attempt.
    void Answered(const Uuid& run_id, const std::string& exec_id, const std::string& by,
                  model::EventKind kind) {
        answers_[exec_id + "@" + by] = kind;
        if (kind == model::EventKind::kSuccess) done_.insert(run_id);
    }
    // Returns whether any attempt of the run succeeded.
    bool WasDone(const Uuid& id) const { return done_.contains(id); }
    // Sets the check of callbacks on arrival.
    void OnCallback(std::function<void(const engine::ActiveAttempt&)> look) {
        on_callback_ = std::move(look);
    }
    // Returns the answer of the one who had the attempt; nothing while it is under way.
    std::optional<model::EventKind> AnswerOf(const model::RunStatus& status) const;

    // Makes the targets unreachable for a while.
    void GoDown(Duration how_long) { down_until_ = world_.now() + how_long; }
    bool down() const { return !healed_ && world_.now() < down_until_; }
    // The same for receivers of callbacks.
    void ReceiversGoDown(Duration how_long) { receivers_down_until_ = world_.now() + how_long; }
    bool receivers_down() const { return !healed_ && world_.now() < receivers_down_until_; }
    LimitChecks& limits() { return limits_; }

    // From now on every call is answered quickly and with success.
    void Heal() { healed_ = true; }
    bool healed() const { return healed_; }
    std::int64_t starts() const { return static_cast<std::int64_t>(seen_.size()); }
    std::int64_t fenced_out() const { return fenced_out_; }

  private:
    World& world_;
    std::map<std::string, Uuid> seen_;  // by exec_id
    std::map<Uuid, std::int64_t> fences_;
    std::map<std::string, model::EventKind> answers_;
    LimitChecks limits_{world_};
    std::int64_t fenced_out_ = 0;
    std::set<Uuid> done_;
    std::function<void(const engine::ActiveAttempt&)> on_callback_;
    TimePoint down_until_{};
    TimePoint receivers_down_until_{};
    bool healed_ = false;
};

// The executor of one life of a node. Answers come as events of the world; `post` delivers them to
// the node, or keeps them while the node is stopped. Shared by the life and its pending events.
class SimExecutor final : public engine::Executor,
                          public std::enable_shared_from_this<SimExecutor> {
  public:
    using Post = std::function<void(World::Action)>;

    SimExecutor(World& world, Targets& targets, Post post)
        : world_(world), targets_(targets), post_(std::move(post)) {}

    model::ActionKind kind() const override { return model::ActionKind::kHttp; }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override;
    void Cancel(std::string_view exec_id) override;

    // The process is gone: no answer is delivered any more. Calls already sent may still arrive.
    void Die();
    // Ends calls that hang.
    void Heal();

  private:
    struct Call {
        model::Run run;
        Done done;
        bool deaf = false;   // continues when asked to stop
        bool hangs = false;  // would not end by itself for a long time
    };
    // The outcome that was drawn for a call.
    struct Fate {
        model::Event event;
        Duration after{};
        bool deaf = false;
        bool hangs = false;
    };

    static bool CanBeSent(const engine::ActiveAttempt& attempt);
    model::Event Unsent(const engine::ActiveAttempt& attempt);
    Fate Draw(const engine::ActiveAttempt& attempt);
    Fate DrawBad(Duration timeout);
    void AnswerAfter(Duration delay, const std::string& exec_id, model::Event event);
    void Answer(const std::string& exec_id, model::Event event);

    World& world_;
    Targets& targets_;
    const Post post_;
    std::map<std::string, Call, std::less<>> calls_;  // in flight, by exec_id
    bool dead_ = false;
};

}  // namespace ksana::sim
