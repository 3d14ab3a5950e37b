#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ksana/base/error/error.hpp"
#include "ksana/http_server/routing/message.hpp"

namespace ksana::http_server {

// What both ends of a reply know: the handler's Reply and the connection that waits for it.
class ReplyState;

// The right and the duty to answer one request, from any thread, now or later: while it is kept no
// thread waits, only the connection. The first answer counts. One that is dropped unanswered
// becomes a 500. Answering after the client or the server has gone does no harm.
// Movable; its members may be called from several threads at once.
class Reply {
  public:
    using Deliver = std::function<void(Response)>;

    // `deliver` gets the one answer, on the thread that gives it. Handlers are handed a Reply made
    // by the server; tests of handlers make their own.
    Reply(Deliver deliver, std::string path, std::string request_id);
    ~Reply();
    Reply(Reply&&) noexcept = default;
    Reply& operator=(Reply&& other) noexcept;

    // False when there was an answer before.
    bool Send(Response response);
    // The error as problem+json, with Retry-After where the time for it is not now.
    bool Fail(const Error& error);

    // The client has closed its side, or the connection was lost. It may have closed its sending
    // side only, so an answer is still sent if there is one; but nobody need hurry to make it.
    bool client_gone() const;
    // Calls `callback` once when that happens: at once, on this thread, when it has happened, else
    // on an I/O thread, where it must not block. Forgotten with the answer.
    void OnClientGone(std::function<void()> callback);

    const std::shared_ptr<ReplyState>& state() const { return state_; }

  private:
    void Drop();

    std::shared_ptr<ReplyState> state_;  // null after a move
};

// For the connection: the client has gone. Thread-safe.
void MarkClientGone(ReplyState& state);

}  // namespace ksana::http_server
