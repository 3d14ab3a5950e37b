#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "ksana/base/process/mutex.hpp"

namespace ksana::http_server {

// The body of an answer that continues until the producer or the client ends it (server-sent
// events). The producer pushes text from any thread, and the connection takes it as fast as the
// client reads. The buffer is bounded: text that does not fit is rejected, so that the producer can
// skip it and say so. No thread blocks on a stream. Shared by the producer and the connection.
// Thread-safe.
class Stream {
  public:
    // `limit`: most bytes that may be pending for the client.
    explicit Stream(std::size_t limit) : limit_(limit) {}

    // Appends all of the text or nothing. Returns false if it does not fit or the stream is over.
    bool TryPush(std::string_view text);
    // Ends the stream after the pending text.
    void End();
    // Returns whether the producer has ended the stream or the client has gone.
    bool over() const;
    // Sets a callback for when there is room again after a rejected push, and for when the client
    // has gone. It runs on an I/O thread and must not block. Must be set before the stream is
    // shared.
    void OnRoom(std::function<void()> callback) { on_room_ = std::move(callback); }

    // For the connection, on its thread -------------------------------------------------------
    // `wake` is called when the first text is pending and at the end, on the producer's thread.
    void Attach(std::function<void()> wake);
    struct Piece {
        std::string text;
        bool last = false;
    };
    // Returns and removes all pending text.
    Piece Take();
    // Discards the stream: the client has gone, or the request was a HEAD.
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
