#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/engine/locks/store_locks.hpp"
#include "ksana/store/store.hpp"
#include "locks/lock_fixture.hpp"

namespace ksana::locks {

// Locks on a store that is shared by everybody who opens them, as it belongs to one process.
class LocksOfStore final : public lock::LockDriver {
  public:
    explicit LocksOfStore(std::shared_ptr<store::Store> store)
        : store_(std::move(store)), locks_(store_->locks()) {}

    Result<lock::TryAnswer> Try(const lock::LockRequest& request) override {
        return locks_.Try(request);
    }
    Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t fence) override {
        return locks_.Renew(request, fence);
    }
    Result<void> Release(const lock::LockRequest& request, std::int64_t fence) override {
        return locks_.Release(request, fence);
    }
    std::string Location() const override { return locks_.Location(); }

  private:
    std::shared_ptr<store::Store> store_;
    engine::StoreLocks locks_;
};

// A kind with a fresh `Server` for each test; Server has Open(), which returns a store that users
// may share, and `clock`, a FakeClock.
template <class Server>
LockKind KindOfStore(std::string name) {
    static std::optional<Server> server;
    return {.name = std::move(name),
            .open = [] { return std::make_unique<LocksOfStore>(server->Open()); },
            .advance = [](Duration by) { server->clock.Advance(by); },
            .begin = [] { server.emplace(); },
            .end = [] { server.reset(); }};
}

}  // namespace ksana::locks
