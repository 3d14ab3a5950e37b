#pragma once

#include "ksana/store/store.hpp"
#include "ksana/store/wrapped/wrapped_runs.hpp"

namespace ksana::store {

// The roles of a wrapped store that deal with workers, servers and locks.

template <class Hook>
class WrappedWorkers final : public WorkerStore {
  public:
    WrappedWorkers(WorkerStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<model::Worker> Register(model::Worker worker, std::optional<TimePoint> now) override {
        return hook_.Call("workers.Register",
                          [&] { return inner_.Register(Pass<Hook>(worker), now); });
    }
    Result<model::Worker> Beat(const Heartbeat& beat) override {
        return hook_.Call("workers.Beat", [&] { return inner_.Beat(beat); });
    }
    Result<void> Deregister(const std::string& id, const Uuid& incarnation) override {
        return hook_.Call("workers.Deregister", [&] { return inner_.Deregister(id, incarnation); });
    }
    Result<model::Worker> RequestDrain(const std::string& id,
                                       const std::optional<model::AuditEvent>& audit) override {
        return hook_.Call("workers.RequestDrain", [&] { return inner_.RequestDrain(id, audit); });
    }
    Result<void> NoteReaped(const std::string& id, TimePoint last_heartbeat_at) override {
        return hook_.Call("workers.NoteReaped",
                          [&] { return inner_.NoteReaped(id, last_heartbeat_at); });
    }
    Result<void> NoteAgents(const std::vector<model::Worker>& agents,
                            std::optional<TimePoint> now) override {
        return hook_.Call("workers.NoteAgents", [&] { return inner_.NoteAgents(agents, now); });
    }
    Result<void> ForgetSilent(const std::string& id, TimePoint before) override {
        return hook_.Call("workers.ForgetSilent", [&] { return inner_.ForgetSilent(id, before); });
    }
    Result<void> Forget(const std::string& id) override {
        return hook_.Call("workers.Forget", [&] { return inner_.Forget(id); });
    }
    Result<model::Worker> Get(const std::string& id) override {
        return hook_.Call("workers.Get", [&] { return inner_.Get(id); });
    }
    Result<Page<model::Worker>> List(const ListParams& params) override {
        return hook_.Call("workers.List", [&] { return inner_.List(params); });
    }

  private:
    WorkerStore& inner_;
    Hook& hook_;
};

template <class Hook>
class WrappedNodes final : public NodeStore {
  public:
    WrappedNodes(NodeStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<model::ServerNode> Register(model::ServerNode node,
                                       std::optional<TimePoint> now) override {
        return hook_.Call("nodes.Register", [&] { return inner_.Register(Pass<Hook>(node), now); });
    }
    Result<model::ServerNode> Beat(model::ServerNode node, std::optional<TimePoint> now) override {
        return hook_.Call("nodes.Beat", [&] { return inner_.Beat(Pass<Hook>(node), now); });
    }
    Result<void> Leave(const std::string& name, const std::string& incarnation) override {
        return hook_.Call("nodes.Leave", [&] { return inner_.Leave(name, incarnation); });
    }
    Result<void> MarkDown(const std::string& name, const std::string& incarnation) override {
        return hook_.Call("nodes.MarkDown", [&] { return inner_.MarkDown(name, incarnation); });
    }
    Result<void> Forget(const std::string& name, const std::string& incarnation) override {
        return hook_.Call("nodes.Forget", [&] { return inner_.Forget(name, incarnation); });
    }
    Result<model::ServerNode> Get(const std::string& name) override {
        return hook_.Call("nodes.Get", [&] { return inner_.Get(name); });
    }
    Result<Page<model::ServerNode>> List(const ListParams& params) override {
        return hook_.Call("nodes.List", [&] { return inner_.List(params); });
    }
    void HoldSession(const std::string& incarnation) override { inner_.HoldSession(incarnation); }
    Result<std::optional<std::vector<std::string>>> WithoutSession(
        const std::vector<std::string>& incarnations) override {
        return hook_.Call("nodes.WithoutSession",
                          [&] { return inner_.WithoutSession(incarnations); });
    }

  private:
    NodeStore& inner_;
    Hook& hook_;
};

template <class Hook>
class WrappedLocks final : public LockStore {
  public:
    WrappedLocks(LockStore& inner, Hook& hook) : inner_(inner), hook_(hook) {}

    Result<LockAnswer> TryAcquire(const LockParams& params) override {
        return hook_.Call("locks.TryAcquire", [&] { return inner_.TryAcquire(params); });
    }
    Result<model::Lock> Renew(const LockParams& params, std::int64_t fence) override {
        return hook_.Call("locks.Renew", [&] { return inner_.Renew(params, fence); });
    }
    Result<void> Release(const LockParams& params, std::int64_t fence) override {
        return hook_.Call("locks.Release", [&] { return inner_.Release(params, fence); });
    }
    Result<Page<model::Lock>> List(const ListParams& params) override {
        return hook_.Call("locks.List", [&] { return inner_.List(params); });
    }

  private:
    LockStore& inner_;
    Hook& hook_;
};

}  // namespace ksana::store
