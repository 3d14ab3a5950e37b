#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ksana/engine/dispatch/executor.hpp"

namespace ksana::engine {

// An executor that records the started attempts; the test says how each ends. Not thread-safe.
class ScriptedExecutor final : public Executor {
  public:
    model::ActionKind kind() const override { return model::ActionKind::kHttp; }

    bool tells_news() const override { return true; }

    std::function<void()> before_start;  // called once, before the next attempt is recorded

    void Start(std::shared_ptr<const ActiveAttempt> attempt, Done done) override {
        if (before_start) std::exchange(before_start, {})();
        const std::string exec_id = attempt->run.status.exec_id;
        started.push_back(exec_id);
        attempts.emplace(exec_id, std::pair(std::move(attempt), std::move(done)));
    }

    void Cancel(std::string_view exec_id) override { cancelled.emplace_back(exec_id); }

    void End(const std::string& exec_id, model::EventKind kind, std::string error = {}) {
        model::Event event;
        event.kind = kind;
        event.error = std::move(error);
        if (kind == model::EventKind::kSuccess) event.target = model::TargetHealth::kAnswered;
        End(exec_id, std::move(event));
    }
    // Ends the attempt as if the target were unreachable.
    void Down(const std::string& exec_id) {
        model::Event event;
        event.kind = model::EventKind::kRetryableFailure;
        event.target = model::TargetHealth::kDown;
        End(exec_id, std::move(event));
    }
    void End(const std::string& exec_id, model::Event event) {
        auto node = attempts.extract(exec_id);
        node.mapped().second(std::move(event));
    }

    std::vector<std::string> started;  // exec_ids
    std::vector<std::string> cancelled;
    std::map<std::string, std::pair<std::shared_ptr<const ActiveAttempt>, Done>>
        attempts;  // in flight
};

}  // namespace ksana::engine
