#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ksana/base/error/error.hpp"
#include "ksana/http_server/routing/message.hpp"

namespace ksana::http_server {

// State shared by the handler's Reply and the connection that waits for it.
class ReplyState;

// The handle through which a handler answers one request, from any thread, now or later. Only the
// connection waits meanwhile; no thread is blocked. The first answer counts. A Reply destroyed
// without an answer answers 500. Answering after the client or the server has gone is harmless.
//
// Movable, owned by the handler. Its members are thread-safe, except moving and destruction.
class Reply {
  public:
    using Deliver = std::function<void(Response)>;

    // `deliver` is called with the answer, on the thread that answers, at most once. The server
    // makes the Reply for a handler; tests of handlers make their own.
    Reply(Deliver deliver, std::string path, std::string request_id);
    ~Reply();
    Reply(Reply&&) noexcept = default;
    Reply& operator=(Reply&& other) noexcept;

    // Sends the answer. Returns false if the request has been answered before.
    bool Send(Response response);
    // Sends the error as problem+json; a 429 or 503 gets "Retry-After: 1". Returns as Send does.
    bool Fail(const Error& error);

    // Returns whether the client has closed its side or the connection is lost. The client may have
    // closed only its sending side, so an answer is still sent, but it is no longer urgent.
    bool client_gone() const;
    // Calls `callback` once when the client goes: at once on this thread if it has gone already,
    // otherwise on an I/O thread, where it must not block. The answer discards the callback.
    void OnClientGone(std::function<void()> callback);

    const std::shared_ptr<ReplyState>& state() const { return state_; }

  private:
    void Drop();

    std::shared_ptr<ReplyState> state_;  // null after a move
};

// Called by the connection when the client has gone. Thread-safe.
void MarkClientGone(ReplyState& state);

}  // namespace ksana::http_server
