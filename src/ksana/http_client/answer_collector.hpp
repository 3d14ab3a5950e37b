#pragma once

#include <cstddef>
#include <string_view>

#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

// Returns `text` without surrounding blanks, tabs and line ends.
std::string_view Trimmed(std::string_view text);

// Collects the header lines and body bytes of an answer within the limits of its call, for both the
// plain parser and libcurl's callbacks. Owned by the call; `request` and `answer` must outlive it
// and must not move. Client's thread only.
class AnswerCollector {
  public:
    AnswerCollector(const CallRequest& request, CallAnswer& answer)
        : request_(request), answer_(answer) {}

    // Resets the intake before the first byte of an answer.
    void Begin();

    // Takes one header or trailer line, with its line end. Returns false beyond max_header_bytes.
    bool TakeHeaderLine(std::string_view line);

    // Returns whether a header line of `bytes` bytes (so far) stays within max_header_bytes.
    bool AllowsLine(std::size_t bytes);

    // Takes body bytes. Returns false if the body exceeds max_read.
    bool TakeBody(std::string_view bytes);

    std::size_t header_bytes() const { return header_bytes_; }
    bool head_ended() const { return head_ended_; }
    bool stopped_reading() const { return stopped_reading_; }
    bool too_many_headers() const { return too_many_headers_; }

  private:
    const CallRequest& request_;
    CallAnswer& answer_;
    std::size_t body_bytes_ = 0;  // including dropped ones
    std::size_t header_bytes_ = 0;
    bool interim_ = false;          // the current or last head is that of a 1xx answer
    bool head_ended_ = false;       // the final answer's head is complete
    bool stopped_reading_ = false;  // the body exceeded max_read
    bool too_many_headers_ = false;
};

}  // namespace ksana::http_client
