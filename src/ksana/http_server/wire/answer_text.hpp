#pragma once

#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/http_server/routing/message.hpp"

namespace ksana::http_server {

// What an answer has beside the handler's response.
struct AnswerFrame {
    std::string_view request_id;
    std::string_view date;
    int minor_version = 1;  // of the request
    bool keep_alive = true;
    bool without_body = false;  // to HEAD: the length is told, the body is not sent
    bool endless = false;       // the head only; what follows comes in chunks, or until the close
    const TextPairs* more = nullptr;  // fields of all answers under a path
};

// Appends an answer, head and body, as it goes to the socket. A header field that is malformed (a
// line end in its value would forge fields) is left out and logged.
void AppendAnswer(std::string& out, const AnswerFrame& frame, const Response& response);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string HttpDate(TimePoint instant);

}  // namespace ksana::http_server
