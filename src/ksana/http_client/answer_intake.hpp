#pragma once

#include <cstddef>
#include <string_view>

#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

// Without blanks and line ends around it.
std::string_view Trimmed(std::string_view text);

// Puts the lines and the bytes of an answer where they belong, within the bounds that its call
// sets. Both must outlive it and stay where they are.
class AnswerIntake {
  public:
    AnswerIntake(const CallRequest& request, CallAnswer& answer)
        : request_(request), answer_(answer) {}

    // Another answer is read from its beginning.
    void Begin();

    // A line of a head or of what follows the last chunk, with its end; false: more than allowed.
    bool TakeHeaderLine(std::string_view line);

    // A line that has not ended is so long already; false: more than allowed.
    bool AllowsLine(std::size_t bytes);

    // False: the body goes on beyond what may be read.
    bool TakeBody(std::string_view bytes);

    std::size_t header_bytes() const { return header_bytes_; }
    bool head_ended() const { return head_ended_; }
    bool stopped_reading() const { return stopped_reading_; }
    bool too_many_headers() const { return too_many_headers_; }

  private:
    const CallRequest& request_;
    CallAnswer& answer_;
    std::size_t body_bytes_ = 0;  // kept or not
    std::size_t header_bytes_ = 0;
    bool interim_ = false;          // the head that is read, or was read last, is a 1xx's
    bool head_ended_ = false;       // that of the answer itself, with its empty line
    bool stopped_reading_ = false;  // the body went on beyond max_read
    bool too_many_headers_ = false;
};

}  // namespace ksana::http_client
