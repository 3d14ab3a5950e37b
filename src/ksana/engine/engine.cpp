#include "ksana/engine/engine.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {

Engine::Engine(Node& node, store::Store& store, Clock& clock, Observer* observer, Options options)
    : node_(node), store_(store), clock_(clock), options_(options) {
    for (std::size_t place = 0; place < node_.loops().size(); ++place) {
        Loop loop = node_.loops()[place];
        if (place < node_.dispatchers().size()) {
            loop.run_once = [this, inner = loop.run_once] {
                auto step = inner();
                stepped_.Notify();
                return step;
            };
        }
        runners_.push_back(
            std::make_unique<LoopRunner>(std::move(loop), clock_, store_.changes(), observer));
    }
    node_.OnWake([this](std::size_t place) { runners_[place]->Wake(); });
}

Result<void> Engine::Start() {
    const MutexLock lock(mutex_);
    if (running_) return {};
    node_.Open();
    KSANA_TRY_VOID(node_.Prepare());
    for (const auto& runner : runners_) {
        if (auto started = runner->Start(); !started) {
            for (const auto& other : runners_) other->Stop();
            node_.Leave();
            return started;
        }
    }
    running_ = true;
    return {};
}

void Engine::StopWithin(Duration drain) {
    const MutexLock lock(mutex_);
    if (!running_) return;
    node_.Close();
    const std::size_t dispatchers = node_.dispatchers().size();
    for (std::size_t place = dispatchers; place < runners_.size(); ++place) {
        if (!runners_[place]->while_draining()) runners_[place]->Stop();
    }
    if (!AwaitIdle(drain)) {
        Log(LogLevel::kWarn, "stopping what is still under way", {{"runs", node_.UnderWay()}});
        node_.StopAll();
        if (!AwaitIdle(options_.stop_patience)) {
            Log(LogLevel::kWarn, "giving back what does not stop", {{"runs", node_.UnderWay()}});
            node_.Abandon();
            AwaitIdle(options_.stop_patience);
        }
    }
    for (const auto& runner : runners_) runner->Stop();
    node_.LeaveShares();
    node_.Leave();
    running_ = false;
}

bool Engine::AwaitIdle(Duration patience) {
    const SteadyPoint deadline = clock_.SteadyNow() + patience;
    while (!node_.Idle()) {
        if (clock_.Wait(stepped_, deadline, {}) == WaitOutcome::kDeadline) return node_.Idle();
    }
    return true;
}

Duration Engine::LongestSilence() const {
    SteadyPoint oldest = clock_.SteadyNow();
    const SteadyPoint now = oldest;
    for (const auto& runner : runners_) oldest = std::min(oldest, runner->last_step());
    return std::chrono::duration_cast<Duration>(now - oldest);
}

}  // namespace ksana::engine
