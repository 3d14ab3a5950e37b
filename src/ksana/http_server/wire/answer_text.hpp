#pragma once

#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/http_server/routing/message.hpp"

namespace ksana::http_server {

// The parts of an answer that do not come from the handler's Response.
struct AnswerFrame {
    std::string_view request_id;
    std::string_view date;
    int minor_version = 1;  // of the request
    bool keep_alive = true;
    bool without_body = false;        // for HEAD: Content-Length, but no body
    bool endless = false;             // head only; a stream follows, in chunks or until the close
    const TextPairs* more = nullptr;  // Router::HeadersUnder the path; null: none
};

// Appends head and body of an answer, as sent to the client. Omits and logs a malformed header
// field (a line end in its value would inject fields) and one that belongs to the server
// (Content-Length, Transfer-Encoding, Connection).
void AppendAnswer(std::string& out, const AnswerFrame& frame, const Response& response);

// Returns "Sun, 06 Nov 1994 08:49:37 GMT".
std::string HttpDate(TimePoint instant);

}  // namespace ksana::http_server
