#include <fmt/core.h>

#include <algorithm>

#include "ksana/http_server/routing/body_budget.hpp"
#include "ksana/http_server/wire/connection.hpp"

// The part of Connection that reads bodies: only those of requests that may go on, and only as far
// as the server has memory for them.

namespace ksana::http_server {
namespace {

constexpr std::size_t kBodyRead = std::size_t{64} * 1024;
constexpr const char* kNoBodyRoom = "the bodies of other requests need all memory for bodies";

}  // namespace

bool Connection::BeginBody(const Head& head) {
    const std::uint64_t length = head.content_length.value_or(0);
    if (!head.chunked && length == 0) return Dispatch();
    if (current_.early) {
        // The answer needs no body, so none is read. A body that has arrived with its head is
        // skipped; otherwise the server cannot tell when, and whether, it comes, so that the
        // connection cannot be used again.
        const bool arrived = !head.chunked && length <= input_.size();
        if (arrived) input_.Consume(length);
        current_.keep_alive = current_.keep_alive && arrived;
        return Dispatch();
    }
    if (length > current_.body_limit) return BodyTooLarge();
    const bool small = IsSmallBody();
    current_.request.body_room = std::make_shared<BodyRoom>(context_.bodies, small);
    // A large body is read in large pieces, whose buffer counts, too.
    if (!GrowBody(small ? length : 0) || (!small && !current_.request.body_room->Grow(kBodyRead))) {
        return RefuseBusy(kNoBodyRoom);
    }
    if (head.expects_continue && input_.empty()) output_ += "HTTP/1.1 100 Continue\r\n\r\n";
    if (head.chunked) {
        current_.chunks.emplace(ChunkDecoder::Limits{.body = current_.body_limit,
                                                     .trailer = context_.options.max_header_bytes});
    }
    phase_ = Phase::kBody;
    body_begun_ = Now();
    SetBodyDeadline();
    return true;
}

// Makes room for `more` bytes of the body, if the server has as much left. Grows by doubling; the
// steps are such that the last one is exactly as long as the body, if its length is known.
bool Connection::GrowBody(std::size_t more) {
    std::string& body = current_.request.body;
    const std::size_t needed = body.size() + more;
    if (needed <= body.capacity()) return true;
    std::size_t room = current_.content_length.value_or(kSmallBody);
    while (room > kSmallBody) room = (room + 1) / 2;
    room = std::max(room, 2 * body.capacity());
    while (room < needed) room *= 2;
    const std::size_t before = body.capacity();
    if (!current_.request.body_room->Grow(room - before)) return false;
    body.reserve(room);
    return true;
}

void Connection::SetBodyDeadline() {
    phase_deadline_ =
        body_begun_ + context_.options.body_deadline + TimeAtMinRate(current_.body_bytes);
}

bool Connection::StepBody() {
    std::string& body = current_.request.body;
    if (current_.chunks) {
        if (!GrowBody(input_.size())) return RefuseBusy(kNoBodyRoom);
        std::size_t used = 0;
        const ParseStatus status = current_.chunks->Feed(input_.data(), used, body);
        input_.Consume(used);
        if (status == ParseStatus::kFault) return Refuse(current_.chunks->fault());
        return status == ParseStatus::kComplete && Dispatch();
    }
    const std::uint64_t missing = *current_.content_length - body.size();
    const std::string_view available = input_.data().substr(0, missing);
    if (!GrowBody(available.size())) return RefuseBusy(kNoBodyRoom);
    body += available;
    input_.Consume(available.size());
    return available.size() == missing && Dispatch();
}

bool Connection::BodyTooLarge() {
    return Refuse({.status = 413,
                   .code = "body_too_large",
                   .detail = fmt::format("the body is larger than {} bytes", current_.body_limit)});
}

// Refuses a request that the server has no room for now, before its body has been read.
bool Connection::RefuseBusy(const char* detail) {
    Increment(context_.statistics.bodies_refused);
    current_.keep_alive = false;
    current_.expected = true;
    Answer(BusyAnswer(detail));
    return false;
}

// Frees a body that no handler has taken: the connection may stay open.
void Connection::ForgetBody() {
    if (!current_.request.body_room) return;
    current_.request.body = std::string();
    current_.request.body_room.reset();
}

bool Connection::IsSmallBody() const {
    return current_.content_length && *current_.content_length <= kSmallBody;
}

// Returns how much to read at once.
std::size_t Connection::BodyPiece() const {
    return IsSmallBody() ? InputBuffer::kSmall / 4 : kBodyRead;
}

Response Connection::BusyAnswer(const char* detail) const {
    Response busy =
        ProblemOf(Error(Code::kUnavailable, detail),
                  ProblemPlace{.instance = current_.path, .request_id = current_.request_id});
    busy.headers.emplace_back("Retry-After", "1");
    return busy;
}

}  // namespace ksana::http_server
