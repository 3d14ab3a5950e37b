#include <fmt/core.h>

#include "ksana/http_server/wire/answer_text.hpp"
#include "ksana/http_server/wire/connection.hpp"

// The part of Connection for streamed answers. Such an answer is the last one of its connection; a
// client uses other connections for further requests.

namespace ksana::http_server {

void Connection::BeginStream(const Response& response) {
    current_.keep_alive = false;
    const bool no_body = current_.method == HttpMethod::kHead;
    AppendAnswer(output_,
                 {.request_id = current_.request_id,
                  .date = host_.date(),
                  .minor_version = current_.minor_version,
                  .keep_alive = false,
                  .without_body = no_body,
                  .endless = true,
                  .more = &context_.router.HeadersUnder(current_.path)},
                 response);
    if (no_body) {
        response.stream->Abandon();
        phase_ = Phase::kClosing;
        return;
    }
    phase_ = Phase::kStreaming;
    phase_deadline_ = SteadyPoint::max();
    stream_ = response.stream;
    stream_->Attach([mailbox = host_.mailbox(), self = weak_from_this()] {
        mailbox->Post([self] {
            if (const auto connection = self.lock()) connection->OnStream();
        });
    });
    if (host_.draining()) stream_->End();
}

void Connection::OnStream() {
    if (phase_ == Phase::kStreaming) Advance();
}

// Takes the pending text of the stream, after the text taken before has been written.
bool Connection::StepStream() {
    const Stream::Piece piece = stream_->Take();
    const bool chunked = current_.minor_version > 0;
    if (!piece.text.empty()) {
        if (chunked) output_ += fmt::format("{:x}\r\n", piece.text.size());
        output_ += piece.text;
        if (chunked) output_ += "\r\n";
    }
    if (!piece.last) return !piece.text.empty();
    if (chunked) output_ += "0\r\n\r\n";
    stream_.reset();
    phase_ = Phase::kClosing;
    return false;
}

}  // namespace ksana::http_server
