#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/worker/worker_loop.hpp"

// A loop whose server is the test: calls are looked at and answered one by one, and time stands
// still until it is moved.

namespace ksana::worker {

inline constexpr const char* kClaim = "/api/v1/agent/claim";
inline constexpr const char* kExchange = "/api/v1/agent/exchange";
inline constexpr const char* kRegister = "/api/v1/workers";

class ScriptedWire final : public Wire {
  public:
    struct Pending {
        WireCall call;
        Done done;
        CallId id = 0;
    };

    CallId Send(WireCall call, Done done) override {
        pending_.push_back({std::move(call), std::move(done), ++last_});
        return last_;
    }
    void Cancel(CallId id) override { cancelled_.push_back(id); }
    void Leave() override { ++turns_; }
    std::uint64_t turns() const override { return turns_; }
    bool reachable() const override { return true; }
    std::string server() const override { return "http://scripted"; }

    // Returns the body of the call under way to this path; "-": none.
    std::string BodyTo(std::string_view path) const {
        for (const Pending& one : pending_) {
            if (one.call.path == path) return one.call.body;
        }
        return "-";
    }
    bool Has(std::string_view path) const { return BodyTo(path) != "-"; }

    // Answers the oldest call to this path.
    void Answer(std::string_view path, int status, std::string_view json = "") {
        for (auto it = pending_.begin(); it != pending_.end(); ++it) {
            if (it->call.path != path) continue;
            const Pending one = std::move(*it);
            pending_.erase(it);
            WireAnswer answer;
            answer.status = status;
            if (!json.empty()) answer.json = codec::Json::Parse(json).value();
            if (status == 0) answer.error = Error(Code::kUnavailable, "away");
            if (status == 409) answer.error = Error(Code::kLeaseLost, "another incarnation");
            if (status == 404) answer.error = Error(Code::kNotFound, "unknown");
            if (status == 400) answer.error = Error(Code::kInvalidArgument, "refused");
            if (answer.error) answer.pause = std::chrono::seconds(1);
            one.done(answer);
            return;
        }
        FAIL() << "no call to " << path;
    }
    // Answers what was cancelled, as a client does.
    void AnswerCancelled() {
        for (const CallId id : std::exchange(cancelled_, {})) {
            for (auto it = pending_.begin(); it != pending_.end(); ++it) {
                if (it->id != id) continue;
                const Pending one = std::move(*it);
                pending_.erase(it);
                one.done({.error = Error(Code::kUnavailable, "ended"), .status = 0});
                break;
            }
        }
    }
    void Turn() { ++turns_; }
    std::size_t size() const { return pending_.size(); }

  private:
    std::deque<Pending> pending_;
    std::vector<CallId> cancelled_;
    CallId last_ = 0;
    std::uint64_t turns_ = 0;
};

// Keeps attempts until the test ends them.
class HeldExecutor final : public engine::Executor {
  public:
    model::ActionKind kind() const override { return model::ActionKind::kQueue; }
    std::vector<std::string> types() const override { return {"mail"}; }
    bool tells_news() const override { return true; }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override {
        const std::string exec_id = attempt->run.status.exec_id;
        started[exec_id] = {std::move(attempt), std::move(done)};
    }
    void Cancel(std::string_view exec_id) override { cancelled.emplace_back(exec_id); }

    void End(const std::string& exec_id, model::EventKind kind, std::string result = "") {
        model::Event event;
        event.kind = kind;
        event.result = std::move(result);
        started.at(exec_id).second(std::move(event));
    }

    std::map<std::string, std::pair<std::shared_ptr<const engine::ActiveAttempt>, Done>> started;
    std::vector<std::string> cancelled;
};

inline std::string ClaimedJson(const std::string& exec_id) {
    return R"({"run_id":"0192f0c1-2345-7abc-8def-0123456789ab","exec_id":")" + exec_id +
           R"(","fence":1,"type":"mail","category":"","tenant":"default","creator":"",)"
           R"("priority":50,"attempt":1,"payload":{"to":"ada"},"timeout":"1m","deadline_in":60,)"
           R"("lease_expires_in":30,"traceparent":"00-0-0-01","kind":"queue"})";
}

class WorkerLoopTest : public ::testing::Test {
  protected:
    WorkerLoopTest() {
        LoopOptions options;
        options.identity.name = "w1";
        options.identity.incarnation = *Uuid::Parse("0192f0c1-2345-7abc-8def-0123456789ff");
        options.identity.kinds = {model::ActionKind::kQueue};
        options.identity.types = {"mail"};
        options.identity.slots = 2;
        loop_ = std::make_unique<WorkerLoop>(
            options,
            WorkerLoop::Parts{
                .clock = clock_, .wire = wire_, .executors = {&executor_}, .wakeup = wakeup_});
    }

    void Run() {
        wire_.AnswerCancelled();
        next_ = loop_->RunOnce();
    }
    void Advance(Duration time) {
        clock_.Advance(time);
        Run();
    }
    void Answer(std::string_view path, int status, std::string_view json = "") {
        wire_.Answer(path, status, json);
        Run();
    }
    void Register() {
        Run();
        Answer(kRegister, 201, R"({"name":"w1"})");
        Answer(kHeartbeat, 200, R"({"state":"alive","heartbeat_in":30,"directives":[]})");
    }
    void Claim(const std::string& exec_id) {
        Answer(kClaim, 200, R"({"runs":[)" + ClaimedJson(exec_id) + "]}");
    }
    // Answers one report with this verdict.
    void Exchanged(const std::string& verdict, const std::string& more = "") {
        Answer(kExchange, 200,
               R"({"reports":[{"run_id":"r","verdict":")" + verdict + "\"" + more +
                   R"(}],"runs":[]})");
    }

    static constexpr const char* kHeartbeat = "/api/v1/workers/w1/heartbeat";
    static constexpr const char* kFarewellPath =
        "/api/v1/workers/w1?incarnation=0192f0c1-2345-7abc-8def-0123456789ff";

    FakeClock clock_;
    ScriptedWire wire_;
    HeldExecutor executor_;
    Wakeup wakeup_;
    std::unique_ptr<WorkerLoop> loop_;
    SteadyPoint next_{};
};

}  // namespace ksana::worker
