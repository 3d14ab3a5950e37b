#include "ksana/http_server/wire/connection.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/http_server/routing/dispatch.hpp"
#include "ksana/http_server/wire/answer_text.hpp"

namespace ksana::http_server {
namespace {

constexpr std::size_t kOutputBatch = std::size_t{64} * 1024;
constexpr std::size_t kMaxRequestId = 128;

bool IsRequestIdChar(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~:/+=@").find(c) != std::string_view::npos;
}

}  // namespace

Connection::Connection(const ServeContext& context, ConnectionHost& host,
                       std::unique_ptr<Transport> transport, bool for_probes)
    : context_(context),
      host_(host),
      transport_(std::move(transport)),
      for_probes_(for_probes),
      parser_(
          {.bytes = context.options.max_header_bytes, .fields = context.options.max_header_fields}),
      phase_deadline_(Now() + context.options.header_deadline),
      write_deadline_(SteadyPoint::max()) {}

Connection::~Connection() = default;

void Connection::Open() { transport_->Open(shared_from_this()); }

void Connection::OnOpened(bool ok) {
    if (phase_ == Phase::kClosed) return;
    if (!ok) {
        Close();
        return;
    }
    GoIdle();
    Advance();
}

void Connection::OnRead(std::size_t bytes) {
    read_pending_ = false;
    if (phase_ == Phase::kClosed) return;
    if (bytes == 0) {
        input_ended_ = true;
        if (reply_) MarkClientGone(*reply_);
    }
    input_.Commit(bytes);
    if (phase_ == Phase::kBody) {
        current_.body_bytes += bytes;
        SetBodyDeadline();
    }
    Advance();
}

void Connection::OnReadFailed() {
    read_pending_ = false;
    Close();
}

void Connection::Advance() {
    bool full = true;
    while (full && !write_pending_) {
        while (output_.size() < kOutputBatch && Step()) {
        }
        full = output_.size() >= kOutputBatch;
        Flush();
    }
    if (phase_ == Phase::kClosed) return;
    if (phase_ == Phase::kClosing) {
        FinishClosing();
        return;
    }
    // After the end of input a partial request cannot be completed. Pending answers are still
    // written.
    const bool over = (input_ended_ && phase_ != Phase::kHandling) ||
                      (host_.draining() && phase_ == Phase::kIdle && input_.empty());
    if (over && !write_pending_) {
        Close();
        return;
    }
    ReadMore();
}

bool Connection::Step() {
    switch (phase_) {
        case Phase::kIdle:
        case Phase::kHead:
            return StepHead();
        case Phase::kBody:
            return StepBody();
        case Phase::kStreaming:
            return StepStream();
        case Phase::kOpening:
        case Phase::kHandling:
        case Phase::kClosing:
        case Phase::kClosed:
            return false;
    }
    return false;
}

bool Connection::StepHead() {
    if (input_.empty()) return false;
    if (phase_ == Phase::kIdle) {
        phase_ = Phase::kHead;
        phase_deadline_ = Now() + context_.options.header_deadline;
    }
    switch (parser_.Feed(input_.data())) {
        case ParseStatus::kNeedMore:
            return false;
        case ParseStatus::kFault:
            return RefuseHead(parser_.fault());
        case ParseStatus::kComplete:
            break;
    }
    input_.Consume(parser_.size());
    return BeginRequest();
}

bool Connection::BeginRequest() {
    Head& head = parser_.head();
    ++ticket_;
    current_ = CurrentRequest();
    current_.started = Now();
    current_.method = head.method;
    current_.minor_version = head.minor_version;
    current_.keep_alive = head.keep_alive && !for_probes_;
    current_.content_length = head.content_length;
    current_.path = head.target.path;
    current_.request_id = RequestIdOf(head.headers);
    FindRoute(head);
    current_.request = TakeRequest(head);
    if (!current_.early) current_.early = RefusalOfHead();
    const bool go_on = BeginBody(head);
    parser_.Reset();
    return go_on;
}

std::optional<Response> Connection::RefusalOfHead() {
    if (for_probes_ && !current_.route->for_probes()) {
        current_.expected = true;
        return BusyAnswer("there are too many connections");
    }
    return Refusal(context_.router, *current_.route, current_.request);
}

// Keeps the parameters that FindRoute has found.
Request Connection::TakeRequest(Head& head) {
    Request request;
    request.method = head.method;
    request.path = std::move(head.target.path);
    request.segments = std::move(head.target.segments);
    request.query = std::move(head.target.query);
    request.parameters = std::move(current_.request.parameters);
    request.headers = std::move(head.headers);
    request.peer = transport_->peer();
    request.secure = transport_->secure();
    request.request_id = current_.request_id;
    return request;
}

void Connection::FindRoute(const Head& head) {
    Router::Match match;
    if (head.target.asterisk) {
        match.allow = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
    } else {
        match = context_.router.Find(head.method, head.target.segments);
    }
    if (match.route == nullptr) {
        current_.early = Router::NoRoute(
            head.method, match, {.instance = current_.path, .request_id = current_.request_id});
        return;
    }
    current_.route = match.route;
    current_.request.parameters = std::move(match.parameters);
    current_.body_limit =
        std::min(match.route->body_limit().value_or(context_.options.max_body_bytes),
                 context_.options.max_bodies_bytes);
}

bool Connection::Dispatch() {
    phase_ = Phase::kHandling;
    phase_deadline_ = SteadyPoint::max();
    if (current_.early) {
        Answer(*current_.early);
        return true;
    }
    const Route& route = *current_.route;
    if (route.where() == Where::kInline && !route.asynchronous()) {
        Answer(RunHandler(route, current_.request));
        return true;
    }
    Work work{.route = &route, .request = std::move(current_.request), .reply = MakeReply()};
    if (route.where() == Where::kInline) {
        RunWork(std::move(work));
    } else if (!context_.pool.TrySubmit(work)) {
        Increment(context_.statistics.pool_refused);
        work.reply.Send(BusyAnswer("the server is busy"));
    }
    return false;
}

// Makes the Reply for the handler. Its answer, from any thread, comes back through the mailbox.
Reply Connection::MakeReply() {
    auto deliver = [mailbox = host_.mailbox(), self = weak_from_this(),
                    ticket = ticket_](Response response) {
        mailbox->Post([self, ticket, response = std::move(response)] {
            if (const auto connection = self.lock()) connection->OnReply(ticket, response);
        });
    };
    Reply reply(std::move(deliver), current_.path, current_.request_id);
    reply_ = reply.state();
    if (input_ended_) MarkClientGone(*reply_);
    return reply;
}

void Connection::OnReply(std::uint64_t ticket, const Response& response) {
    if (phase_ != Phase::kHandling || ticket != ticket_) return;
    Answer(response);
    Advance();
}

void Connection::Answer(const Response& response) {
    reply_.reset();
    ForgetBody();
    CountAnswer(context_.statistics, response.status);
    LogAnswer(response.status);
    if (response.stream) {
        BeginStream(response);
        return;
    }
    const bool keep_alive = current_.keep_alive && !host_.draining();
    AppendAnswer(output_,
                 {.request_id = current_.request_id,
                  .date = host_.date(),
                  .minor_version = current_.minor_version,
                  .keep_alive = keep_alive,
                  .without_body = current_.method == HttpMethod::kHead,
                  .more = &context_.router.HeadersUnder(current_.path)},
                 response);
    if (keep_alive) {
        GoIdle();
    } else {
        phase_ = Phase::kClosing;
    }
}

void Connection::LogAnswer(int status) const {
    // 501 and 505 are caused by the client, which could fill the log with them.
    const bool ours = status >= 500 && status != 501 && status != 505 && !current_.expected;
    const LogLevel level = ours ? LogLevel::kWarn : LogLevel::kDebug;
    if (!LogEnabled(level)) return;
    const std::chrono::duration<double, std::milli> latency = Now() - current_.started;
    Log(level, "request",
        {{"method", NameOf(current_.method)},
         {"path", current_.path},
         {"status", status},
         {"latency_ms", latency.count()},
         {"request_id", current_.request_id},
         {"peer", transport_->peer()}});
}

bool Connection::RefuseHead(const Fault& fault) {
    const Head& head = parser_.head();  // as far as it was parsed
    current_ = CurrentRequest();
    current_.started = Now();
    current_.method = head.method;
    current_.path = head.target.path;
    current_.request_id = RequestIdOf(head.headers);
    return Refuse(fault);
}

bool Connection::Refuse(const Fault& fault) {
    current_.keep_alive = false;
    Answer(ProblemOf(fault, {.instance = current_.path, .request_id = current_.request_id}));
    return false;
}

std::string Connection::RequestIdOf(const Headers& headers) const {
    const auto given = headers.Find("X-Request-Id");
    if (given && !given->empty() && given->size() <= kMaxRequestId &&
        std::all_of(given->begin(), given->end(), IsRequestIdChar)) {
        return std::string(*given);
    }
    return fmt::format("{:016x}", context_.random.Next());
}

void Connection::GoIdle() {
    phase_ = Phase::kIdle;
    phase_deadline_ = Now() + context_.options.idle_timeout;
}

void Connection::ReadMore() {
    if (read_pending_ || input_ended_) return;
    const bool waits = phase_ == Phase::kHandling || phase_ == Phase::kStreaming || write_pending_;
    if (waits && input_.size() >= context_.options.max_header_bytes) return;
    read_pending_ = true;
    const std::size_t least = phase_ == Phase::kBody ? BodyPiece() : InputBuffer::kSmall / 4;
    transport_->Read(shared_from_this(), input_.Prepare(least));
}

void Connection::Flush() {
    if (write_pending_ || output_.empty() || phase_ == Phase::kClosed) return;
    writing_.swap(output_);
    output_.clear();
    if (transport_->Write(shared_from_this(), writing_)) {
        ForgetWritten();
        return;
    }
    write_pending_ = true;
    write_deadline_ = Now() + context_.options.write_deadline + TimeAtMinRate(writing_.size());
}

void Connection::ForgetWritten() {
    writing_.clear();
    if (writing_.capacity() > 2 * kOutputBatch) writing_ = std::string();
}

void Connection::OnWritten(bool ok) {
    write_pending_ = false;
    write_deadline_ = SteadyPoint::max();
    if (phase_ == Phase::kClosed) return;
    if (!ok) {
        Close();
        return;
    }
    ForgetWritten();
    if (phase_ == Phase::kIdle) GoIdle();
    Advance();
}

// Shuts down sending after the last answer, and waits up to `linger` for the client to close.
// Closing with unread input would reset the connection, and the answer could be lost.
void Connection::FinishClosing() {
    if (!shut_down_ && !write_pending_) {
        shut_down_ = true;
        phase_deadline_ = Now() + context_.options.linger;
        transport_->ShutdownSend(shared_from_this());
    }
    if (input_ended_ && shut_down_) {
        Close();
        return;
    }
    input_.Consume(input_.size());
    if (read_pending_ || input_ended_) return;
    read_pending_ = true;
    transport_->Read(shared_from_this(), input_.Prepare(InputBuffer::kSmall));
}

void Connection::Sweep(SteadyPoint now) {
    if (now >= write_deadline_) {
        CutBy("write");
        return;
    }
    if (now < phase_deadline_) return;
    switch (phase_) {
        case Phase::kHead:
        case Phase::kBody:
            TimeOut();
            return;
        case Phase::kOpening:
            CutBy("handshake");
            return;
        case Phase::kClosing:
            if (shut_down_) Close();
            return;
        case Phase::kIdle:
            if (!write_pending_) Close();
            return;
        case Phase::kHandling:
        case Phase::kStreaming:
        case Phase::kClosed:
            return;
    }
}

void Connection::TimeOut() {
    Increment(context_.statistics.connections_cut);
    const Fault fault{
        .status = 408, .code = "request_timeout", .detail = "the request took too long to arrive"};
    if (phase_ == Phase::kHead) {
        RefuseHead(fault);
    } else {
        Refuse(fault);
    }
    Advance();
}

void Connection::CutBy(const char* what) {
    Increment(context_.statistics.connections_cut);
    Log(LogLevel::kDebug, "a slow client was cut", {{"in", what}, {"peer", transport_->peer()}});
    Close();
}

std::optional<SteadyPoint> Connection::IdleUntil() const {
    if (phase_ != Phase::kIdle || !input_.empty() || write_pending_) return std::nullopt;
    return phase_deadline_;
}

void Connection::Drain() {
    if (IdleUntil() || phase_ == Phase::kOpening) Close();
    if (phase_ == Phase::kStreaming) stream_->End();
}

void Connection::Close() {
    if (phase_ == Phase::kClosed) return;
    const auto self = shared_from_this();
    phase_ = Phase::kClosed;
    transport_->Close();
    if (reply_) MarkClientGone(*reply_);
    reply_.reset();
    if (stream_) stream_->Abandon();
    stream_.reset();
    host_.Forget(*this);
}

}  // namespace ksana::http_server
