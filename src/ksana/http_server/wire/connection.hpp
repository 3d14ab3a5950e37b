#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
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

// What all connections of a server share. Everything outlives them.
struct ServeContext {
    const ServerOptions& options;
    const Router& router;
    const Clock& clock;
    Random& random;
    WorkPool& pool;
    Statistics& statistics;
};

class Connection;

// The loop that owns a connection.
class ConnectionHost {
  public:
    virtual ~ConnectionHost() = default;

    virtual const std::shared_ptr<Mailbox>& mailbox() const = 0;
    virtual std::string_view date() = 0;  // now, as HTTP writes it
    virtual bool draining() const = 0;
    virtual void Forget(Connection& connection) = 0;
};

// One client: reads requests, has them answered one after the other, writes the answers in order.
// A hand-written state machine, as g++ 12 miscompiles too much of what coroutines look like.
//
// Pipelined requests that are answered inline share a write. While a request is with its handler or
// an answer is being written, at most a header's worth of input is taken, so a client that does not
// read its answers stops itself. There is no timer here: the loop calls Sweep now and then.
//
// Everything happens on the thread of its loop.
class Connection final : public TransportEvents, public std::enable_shared_from_this<Connection> {
  public:
    Connection(const ServeContext& context, ConnectionHost& host,
               std::unique_ptr<Transport> transport);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void Open();
    // Cuts what has taken too long.
    void Sweep(SteadyPoint now);
    // Closes when idle; else the next answer is the last.
    void Drain();
    void Close();

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
        kStreaming,  // the answer goes on; the last one
        kClosing,    // the last answer is on its way, or gone: input is thrown away
        kClosed,
    };

    // The request that is under way.
    struct CurrentRequest {
        Request request;
        const Route* route = nullptr;  // null: `early` answers
        std::optional<Response> early;
        int minor_version = 1;
        bool keep_alive = true;
        std::size_t body_limit = 0;
        std::optional<std::uint64_t> content_length;
        std::optional<ChunkDecoder> chunks;
        std::size_t body_bytes = 0;  // as they came, with the framing of chunks
        SteadyPoint started{};
        // Copies, as the request itself goes to the handler.
        HttpMethod method = HttpMethod::kGet;
        std::string path;
        std::string request_id;
    };

    // Goes on as far as the input reaches.
    void Advance();
    // One step; false when it needs more input, or somebody else to go on.
    bool Step();
    bool StepHead();
    bool BeginRequest();
    void FindRoute(const Head& head);
    bool BeginBody(const Head& head);
    bool StepBody();
    bool BodyTooLarge();
    bool Dispatch();
    Reply MakeReply();
    void OnReply(std::uint64_t ticket, const Response& response);
    void BeginStream(const Response& response);
    void OnStream();
    bool StepStream();

    void Answer(const Response& response);
    void LogAnswer(int status) const;
    // The answer to what cannot be understood; the connection ends with it. Always false.
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
    SteadyPoint Now() const { return context_.clock.SteadyNow(); }

    const ServeContext& context_;
    ConnectionHost& host_;
    const std::unique_ptr<Transport> transport_;

    Phase phase_ = Phase::kOpening;
    InputBuffer input_;
    HeadParser parser_;
    CurrentRequest current_;
    std::uint64_t ticket_ = 0;           // of the exchange, so that a late reply is known as such
    std::shared_ptr<ReplyState> reply_;  // of the handler that has the request
    std::shared_ptr<Stream> stream_;     // while kStreaming
    std::string output_;                 // answers that wait for a write
    std::string writing_;                // what is being written
    bool read_pending_ = false;
    bool write_pending_ = false;
    bool input_ended_ = false;
    bool shut_down_ = false;
    SteadyPoint phase_deadline_;
    SteadyPoint body_begun_{};
    SteadyPoint write_deadline_;
};

}  // namespace ksana::http_server
