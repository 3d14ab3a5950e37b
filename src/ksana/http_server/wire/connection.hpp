#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_server/routing/body_budget.hpp"
#include "ksana/http_server/routing/mailbox.hpp"
#include "ksana/http_server/routing/reply.hpp"
#include "ksana/http_server/routing/router.hpp"
#include "ksana/http_server/routing/stream.hpp"
#include "ksana/http_server/routing/work_pool.hpp"
#include "ksana/http_server/server_options.hpp"
#include "ksana/http_server/statistics.hpp"
#include "ksana/http_server/wire/chunk_decoder.hpp"
#include "ksana/http_server/wire/head_parser.hpp"
#include "ksana/http_server/wire/input_buffer.hpp"
#include "ksana/http_server/wire/transport.hpp"

namespace ksana::http_server {

// Shared by all connections of a server; the referenced objects outlive them.
struct ServeContext {
    const ServerOptions& options;
    const Router& router;
    const Clock& clock;
    Random& random;
    WorkPool& pool;
    const std::shared_ptr<BodyBudget> bodies;
    Statistics& statistics;
};

class Connection;

// The loop that owns a connection; implemented by IoLoop. Called on the loop's thread only.
class ConnectionHost {
  public:
    virtual ~ConnectionHost() = default;

    virtual const std::shared_ptr<Mailbox>& mailbox() const = 0;
    virtual std::string_view date() = 0;  // the current value for the Date field
    virtual bool draining() const = 0;    // the server is stopping
    // Removes the connection from the loop. Called once, by Connection::Close.
    virtual void Forget(Connection& connection) = 0;
};

// A connection to one client: reads requests, has them handled one at a time, and writes the
// answers in order. A hand-written state machine, because g++ 12 miscompiles too much coroutine
// code.
//
// Pipelined requests that are handled inline share a write. While a handler has a request or an
// answer is being written, the connection buffers only about max_header_bytes of input, so that a
// client that does not read its answers is slowed down by TCP. The connection has no timers; the
// loop calls Sweep regularly.
//
// Owned by its IoLoop. All members run on the loop's thread. After a failure of the socket the
// connection closes and the loop forgets it.
class Connection final : public TransportEvents, public std::enable_shared_from_this<Connection> {
  public:
    // `for_probes`: answers one request to a route for probes, and refuses others.
    Connection(const ServeContext& context, ConnectionHost& host,
               std::unique_ptr<Transport> transport, bool for_probes);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void Open();
    // Enforces the deadlines that have passed by `now`.
    void Sweep(SteadyPoint now);
    // Closes an idle connection and ends a stream. Otherwise the next answer is the last.
    void Drain();
    void Close();
    // Returns when the connection is closed unless a request comes; none if it is not idle.
    std::optional<SteadyPoint> IdleUntil() const;

    void OnOpened(bool ok) override;
    void OnRead(std::size_t bytes) override;
    void OnReadFailed() override;
    void OnWritten(bool ok) override;

  private:
    enum class Phase : std::uint8_t {
        kOpening,
        kIdle,  // between requests
        kHead,
        kBody,
        kHandling,   // a handler has the request
        kStreaming,  // the last answer is a stream
        kClosing,    // the last answer is being written or has been: input is discarded
        kClosed,
    };

    // The request being read or handled.
    struct CurrentRequest {
        Request request;
        const Route* route = nullptr;  // null: `early` is the answer
        std::optional<Response> early;
        int minor_version = 1;
        bool keep_alive = true;
        bool expected = false;  // refused because a limit is reached: not worth a warning
        std::size_t body_limit = 0;
        std::optional<std::uint64_t> content_length;
        std::optional<ChunkDecoder> chunks;
        std::size_t body_bytes = 0;  // received, including the framing of chunks
        SteadyPoint started{};
        // Copies, because the request itself moves to the handler.
        HttpMethod method = HttpMethod::kGet;
        std::string path;
        std::string request_id;
    };

    // Processes the input as far as possible, then writes, reads more or closes.
    void Advance();
    // Takes one step. Returns false if it needs more input, an answer from a handler, or text of
    // the stream.
    bool Step();
    bool StepHead();
    bool BeginRequest();
    void FindRoute(const Head& head);
    Request TakeRequest(Head& head);
    std::optional<Response> RefusalOfHead();
    bool BeginBody(const Head& head);
    bool StepBody();
    bool GrowBody(std::size_t more);
    bool BodyTooLarge();
    bool RefuseBusy(const char* detail);
    Response BusyAnswer(const char* detail) const;
    bool IsSmallBody() const;
    void ForgetBody();
    std::size_t BodyPiece() const;
    bool Dispatch();
    Reply MakeReply();
    void OnReply(std::uint64_t ticket, const Response& response);
    void BeginStream(const Response& response);
    void OnStream();
    bool StepStream();

    void Answer(const Response& response);
    void LogAnswer(int status) const;
    // Answers a malformed request and closes the connection after the answer. Return false always.
    bool Refuse(const Fault& fault);
    bool RefuseHead(const Fault& fault);
    std::string RequestIdOf(const Headers& headers) const;

    void GoIdle();
    void ReadMore();
    void Flush();
    void ForgetWritten();
    void FinishClosing();
    void TimeOut();
    void CutBy(const char* what);
    void SetBodyDeadline();
    // Returns the time that `bytes` may take at the slowest permitted rate.
    Duration TimeAtMinRate(std::size_t bytes) const {
        return std::chrono::seconds(bytes /
                                    std::max<std::size_t>(context_.options.min_rate_bytes, 1));
    }
    SteadyPoint Now() const { return context_.clock.SteadyNow(); }

    const ServeContext& context_;
    ConnectionHost& host_;
    const std::unique_ptr<Transport> transport_;
    const bool for_probes_;

    Phase phase_ = Phase::kOpening;
    InputBuffer input_;
    HeadParser parser_;
    CurrentRequest current_;
    std::uint64_t ticket_ = 0;           // number of the current request; detects late replies
    std::shared_ptr<ReplyState> reply_;  // of the current handler; null: none
    std::shared_ptr<Stream> stream_;     // set while kStreaming
    std::string output_;                 // answers not yet being written
    std::string writing_;                // bytes being written
    bool read_pending_ = false;
    bool write_pending_ = false;
    bool input_ended_ = false;
    bool shut_down_ = false;
    SteadyPoint phase_deadline_;
    SteadyPoint body_begun_{};
    SteadyPoint write_deadline_;
};

}  // namespace ksana::http_server
