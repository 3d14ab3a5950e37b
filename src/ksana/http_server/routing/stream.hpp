#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "ksana/base/process/mutex.hpp"

namespace ksana::http_server {

// The body of an answer that goes on until one side ends it (server-sent events). Whoever has
// something to say pushes text, from any thread; the connection takes it as fast as the client
// reads. Bounded: what does not fit is refused and the pusher is told, so that it can leave out
// what came too fast, and say so. No thread waits for a stream. Thread-safe.
class Stream {
  public:
    // `limit`: bytes that may wait for the client.
    explicit Stream(std::size_t limit) : limit_(limit) {}

    // All of the text or nothing. False: there is no room, or the stream is over.
    bool TryPush(std::string_view text);
    // Nothing more comes; what was pushed still goes out.
    void End();
    // One side has ended it.
    bool over() const;
    // Called when there is room again after a push that was refused, and when the client has gone:
    // on an I/O thread, where it must not block. Set before the stream is given away.
    void OnRoom(std::function<void()> callback) { on_room_ = std::move(callback); }

    // For the connection, on its thread -------------------------------------------------------
    // `wake` is called after something came, on the thread that brought it.
    void Attach(std::function<void()> wake);
    struct Piece {
        std::string text;
        bool last = false;
    };
    // All that waits.
    Piece Take();
    // The client has gone, or wants no body.
    void Abandon();

  private:
    const std::size_t limit_;
    std::function<void()> on_room_;
    mutable Mutex mutex_;
    std::function<void()> wake_ KSANA_GUARDED_BY(mutex_);
    std::string waiting_ KSANA_GUARDED_BY(mutex_);
    bool ended_ KSANA_GUARDED_BY(mutex_) = false;
    bool gone_ KSANA_GUARDED_BY(mutex_) = false;
    bool refused_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::http_server
