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
#include "sim/sim_world.hpp"

namespace ksana::sim {

// The outside that is called: keeps every start that reached it, checks the fence as a careful
// receiver does, and knows what each attempt was answered.
class Targets {
  public:
    explicit Targets(World& world) : world_(world) {}

    // The call arrives. False: an attempt with a higher fence was there before; it is refused.
    bool Arrive(const engine::ActiveAttempt& attempt);
    // The same of whoever fetches runs.
    bool Arrive(const model::Run& run);
    // Of an attempt that is under way or ends with this.
    void Answered(const model::Run& run, model::EventKind kind) {
        answers_[run.status.exec_id] = kind;
        if (kind == model::EventKind::kSuccess) done_.insert(run.id);
    }
    // Whether somebody took it, at whatever attempt.
    bool WasDone(const Uuid& id) const { return done_.contains(id); }
    // What a callback brings is looked at when it arrives.
    void OnCallback(std::function<void(const engine::ActiveAttempt&)> look) {
        on_callback_ = std::move(look);
    }
    // What the executor said of an attempt; nothing while it is under way.
    std::optional<model::EventKind> AnswerOf(const std::string& exec_id) const;

    // Nobody is there for a while.
    void GoDown(Duration how_long) { down_until_ = world_.now() + how_long; }
    bool down() const { return !healed_ && world_.now() < down_until_; }
    // The same of those who are to get callbacks.
    void ReceiversGoDown(Duration how_long) { receivers_down_until_ = world_.now() + how_long; }
    bool receivers_down() const { return !healed_ && world_.now() < receivers_down_until_; }
    // So many of a group may be called at once by one node.
    void Limit(const std::string& group, std::size_t most) { most_[group] = most; }
    void CheckLimit(const std::string& group, std::size_t now, const model::Run& run);

    // From now on everything is answered soon and well.
    void Heal() { healed_ = true; }
    bool healed() const { return healed_; }
    std::int64_t starts() const { return static_cast<std::int64_t>(seen_.size()); }
    std::int64_t fenced_out() const { return fenced_out_; }

  private:
    World& world_;
    std::map<std::string, Uuid> seen_;  // by exec_id
    std::map<Uuid, std::int64_t> fences_;
    std::map<std::string, model::EventKind> answers_;
    std::map<std::string, std::size_t> most_;  // by group
    std::int64_t fenced_out_ = 0;
    std::set<Uuid> done_;
    std::function<void(const engine::ActiveAttempt&)> on_callback_;
    TimePoint down_until_{};
    TimePoint receivers_down_until_{};
    bool healed_ = false;
};

// The executor of one life of a node. Its answers come as events of the world; `post` brings them
// to the node, or keeps them while it is stopped.
class SimExecutor final : public engine::Executor,
                          public std::enable_shared_from_this<SimExecutor> {
  public:
    using Post = std::function<void(World::Action)>;

    SimExecutor(World& world, Targets& targets, Post post)
        : world_(world), targets_(targets), post_(std::move(post)) {}

    model::ActionKind kind() const override { return model::ActionKind::kHttp; }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override;
    void Cancel(std::string_view exec_id) override;

    // The process is gone: nobody hears an answer any more. What was sent may still arrive.
    void Die();
    // Whatever hangs ends now.
    void Heal();

  private:
    struct Call {
        model::Run run;
        std::string group;
        Done done;
        bool deaf = false;   // goes on when it is asked to stop
        bool hangs = false;  // would not end by itself for a long time
    };
    // How a call will go.
    struct Fate {
        model::Event event;
        Duration after{};
        bool deaf = false;
        bool hangs = false;
    };

    void CheckLimit(const engine::ActiveAttempt& attempt) const;
    static bool CanBeSent(const engine::ActiveAttempt& attempt);
    model::Event Unsent(const engine::ActiveAttempt& attempt);
    Fate Draw(const engine::ActiveAttempt& attempt);
    Fate DrawBad(Duration timeout);
    void AnswerAfter(Duration delay, const std::string& exec_id, model::Event event);
    void Answer(const std::string& exec_id, model::Event event);

    World& world_;
    Targets& targets_;
    const Post post_;
    std::map<std::string, Call, std::less<>> calls_;  // under way, by exec_id
    bool dead_ = false;
};

}  // namespace ksana::sim
