#include "ksana/http_server/routing/reply.hpp"

#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/http_server/routing/problem.hpp"

namespace ksana::http_server {

class ReplyState {
  public:
    ReplyState(Reply::Deliver deliver, std::string path, std::string request_id)
        : path_(std::move(path)),
          request_id_(std::move(request_id)),
          deliver_(std::move(deliver)) {}

    ProblemPlace place() const { return {.instance = path_, .request_id = request_id_}; }

    // Returns the deliver function, or an empty one if it was taken before. Also discards the
    // client-gone callback, outside the lock: what it holds, perhaps the Reply itself, is destroyed
    // with it.
    Reply::Deliver TakeDeliver() {
        std::function<void()> forgotten;
        const MutexLock lock(mutex_);
        forgotten.swap(on_gone_);
        return std::exchange(deliver_, nullptr);
    }

    bool gone() const {
        const MutexLock lock(mutex_);
        return gone_;
    }

    void MarkGone() {
        std::function<void()> callback;
        {
            const MutexLock lock(mutex_);
            gone_ = true;
            callback.swap(on_gone_);
        }
        if (callback) callback();
    }

    void OnGone(std::function<void()> callback) {
        {
            const MutexLock lock(mutex_);
            if (!deliver_) return;
            if (!gone_) {
                on_gone_.swap(callback);
                return;
            }
        }
        callback();
    }

  private:
    const std::string path_;
    const std::string request_id_;
    mutable Mutex mutex_;
    Reply::Deliver deliver_ KSANA_GUARDED_BY(mutex_);  // empty once answered
    std::function<void()> on_gone_ KSANA_GUARDED_BY(mutex_);
    bool gone_ KSANA_GUARDED_BY(mutex_) = false;
};

Reply::Reply(Deliver deliver, std::string path, std::string request_id)
    : state_(std::make_shared<ReplyState>(std::move(deliver), std::move(path),
                                          std::move(request_id))) {}

Reply::~Reply() { Drop(); }

Reply& Reply::operator=(Reply&& other) noexcept {
    if (this != &other) {
        Drop();
        state_ = std::move(other.state_);
    }
    return *this;
}

bool Reply::Send(Response response) {
    KSANA_CHECK(state_ != nullptr, "a Reply that was moved from");
    const Deliver deliver = state_->TakeDeliver();
    if (!deliver) return false;
    deliver(std::move(response));
    return true;
}

bool Reply::Fail(const Error& error) {
    KSANA_CHECK(state_ != nullptr, "a Reply that was moved from");
    Response response = ProblemOf(error, state_->place());
    if (AsksToRetry(response.status)) response.headers.emplace_back("Retry-After", "1");
    return Send(std::move(response));
}

bool Reply::client_gone() const { return state_ == nullptr || state_->gone(); }

void Reply::OnClientGone(std::function<void()> callback) {
    KSANA_CHECK(state_ != nullptr, "a Reply that was moved from");
    state_->OnGone(std::move(callback));
}

void Reply::Drop() {
    if (!state_) return;
    const Deliver deliver = state_->TakeDeliver();
    if (!deliver) return;
    // Dropping a reply is an error of the handler unless the client has gone.
    if (!state_->gone()) {
        Log(LogLevel::kError, "a handler dropped its reply",
            {{"path", state_->place().instance}, {"request_id", state_->place().request_id}});
    }
    deliver(ProblemOf(Error(Code::kInternal, "the request was given up"), state_->place()));
}

void MarkClientGone(ReplyState& state) { state.MarkGone(); }

}  // namespace ksana::http_server
