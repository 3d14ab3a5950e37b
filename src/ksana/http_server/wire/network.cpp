#include "ksana/http_server/wire/network.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/ssl.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <limits>
#include <utility>
#include <vector>

#include "ksana/base/log/log.hpp"
#include "ksana/http_server/wire/io_loop.hpp"

namespace ksana::http_server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;

// Pause after a failed accept, which mostly means that descriptors have run out.
constexpr std::chrono::milliseconds kAcceptPause{100};

// The Asio of Debian 12 does not set close-on-exec, so child processes would inherit the sockets.
void CloseOnExec(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

asio::ip::address Unmapped(const asio::ip::address& address) {
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    return address;
}

// For IPv6 the /64, because a client with one address usually has the whole /64.
std::string AdmissionKey(const asio::ip::address& address) {
    if (address.is_v4()) return address.to_string();
    const auto bytes = address.to_v6().to_bytes();
    return {bytes.begin(), bytes.begin() + 8};
}

// Returns how many connections the descriptors of this process suffice for, besides the reserve. A
// quarter of them stays for the store, files and outgoing calls.
std::size_t ConnectionsByDescriptors(std::size_t reserved) {
    rlimit files{};
    const bool known = ::getrlimit(RLIMIT_NOFILE, &files) == 0;
    if (!known || files.rlim_cur == RLIM_INFINITY) return std::numeric_limits<std::size_t>::max();
    const std::size_t most = files.rlim_cur / 4 * 3;
    return most > reserved ? most - reserved : 1;
}

// Gives a socket to another loop.
Socket Moved(Socket socket, asio::io_context& io) {
    error_code error;
    const auto protocol = socket.local_endpoint(error).protocol();
    Socket moved(io);
    (void)moved.assign(protocol, socket.release(error), error);
    return moved;
}

Result<std::unique_ptr<asio::ssl::context>> MakeTls(const TlsOptions& options) {
    auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
    SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
    SSL_CTX_set_options(tls->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    error_code error;
    if (tls->use_certificate_chain_file(options.certificate_file, error)) {
        return Error(Code::kInvalidArgument,
                     fmt::format("cannot read the certificate {}: {}", options.certificate_file,
                                 error.message()));
    }
    if (tls->use_private_key_file(options.key_file, asio::ssl::context::pem, error)) {
        return Error(Code::kInvalidArgument,
                     fmt::format("cannot use the key {} with {}: {}", options.key_file,
                                 options.certificate_file, error.message()));
    }
    return tls;
}

}  // namespace

// Accepts connections on the first loop's thread and assigns them to all loops in turn. Owned by
// Network. Bind and Begin are called before connections arrive, End by the thread that stops.
class Listener {
  public:
    Listener(const ServeContext& context, Admission& admission,
             std::vector<std::unique_ptr<IoLoop>>& loops)
        : context_(context),
          admission_(admission),
          loops_(loops),
          acceptor_(loops.front()->io()),
          pause_(loops.front()->io()) {}

    Result<void> Bind();
    void Begin() {
        asio::post(loops_.front()->io(), [this] { AcceptNext(); });
    }
    // Blocks until no further connection is accepted.
    void End();

    std::uint16_t port() const { return port_; }

  private:
    error_code Listen(const tcp::endpoint& endpoint);
    void AcceptNext();
    void OnAccepted(const error_code& error, Socket socket, IoLoop& loop);
    void Admit(Socket socket, IoLoop& loop);
    bool FindPlace(ConnectionPlace& place);

    const ServeContext& context_;
    Admission& admission_;
    std::vector<std::unique_ptr<IoLoop>>& loops_;
    std::unique_ptr<asio::ssl::context> tls_;
    Acceptor acceptor_;
    asio::steady_timer pause_;
    std::size_t next_loop_ = 0;
    bool crowded_ = false;  // logged only when it begins
    std::uint16_t port_ = 0;
};

Result<void> Listener::Bind() {
    const ServerOptions& options = context_.options;
    error_code error;
    const auto address = asio::ip::make_address(options.address, error);
    if (error) {
        return Error(Code::kInvalidArgument,
                     fmt::format("{} is not an IP address to listen on", options.address));
    }
    if (options.tls) {
        KSANA_TRY(tls_, MakeTls(*options.tls));
    }
    error = Listen(tcp::endpoint(address, options.port));
    if (error) {
        return Error(Code::kUnavailable,
                     fmt::format("cannot listen on {} port {}: {}", options.address, options.port,
                                 error.message()));
    }
    return {};
}

error_code Listener::Listen(const tcp::endpoint& endpoint) {
    error_code error;
    if (acceptor_.open(endpoint.protocol(), error)) return error;
    CloseOnExec(acceptor_.native_handle());
    if (acceptor_.set_option(asio::socket_base::reuse_address(true), error)) return error;
    if (endpoint.address().is_v6() && acceptor_.set_option(asio::ip::v6_only(false), error)) {
        return error;
    }
    if (acceptor_.bind(endpoint, error)) return error;
    if (acceptor_.listen(asio::socket_base::max_listen_connections, error)) return error;
    port_ = acceptor_.local_endpoint(error).port();
    return error;
}

void Listener::AcceptNext() {
    IoLoop& loop = *loops_.at(next_loop_++ % loops_.size());
    acceptor_.async_accept(loop.io(), [this, &loop](const error_code& error, Socket socket) {
        OnAccepted(error, std::move(socket), loop);
    });
}

void Listener::OnAccepted(const error_code& error, Socket socket, IoLoop& loop) {
    if (!acceptor_.is_open()) return;
    if (error) {
        Log(LogLevel::kWarn, "cannot accept a connection", {{"error", error.message()}});
        pause_.expires_after(kAcceptPause);
        pause_.async_wait([this](const error_code& cancelled) {
            if (!cancelled && acceptor_.is_open()) AcceptNext();
        });
        return;
    }
    Admit(std::move(socket), loop);
    AcceptNext();
}

void Listener::Admit(Socket socket, IoLoop& loop) {
    error_code error;
    const tcp::endpoint remote = socket.remote_endpoint(error);
    if (error) return;  // the client has gone
    const asio::ip::address address = Unmapped(remote.address());
    ConnectionPlace place{.address = AdmissionKey(address)};
    const bool free = admission_.Enter(place);
    const bool found = free || FindPlace(place);
    if (!found || place.reserved) {
        Increment(context_.statistics.connections_refused);
        if (!std::exchange(crowded_, true)) {
            Log(LogLevel::kWarn, "too many connections: new ones are refused, except for probes",
                {{"peer", address.to_string()}});
        }
        if (!found) return;
    } else {
        crowded_ = false;
        Increment(context_.statistics.connections_accepted);
    }
    CloseOnExec(socket.native_handle());
    (void)socket.set_option(tcp::no_delay(true), error);
    // A place that another connection gave up stays on the loop of that connection, so that this
    // loop does not run out of idle ones.
    IoLoop& home = free ? loop : *loops_.front();
    if (&home != &loop) socket = Moved(std::move(socket), home.io());
    home.Adopt(std::move(socket), std::move(place), address.to_string(), tls_.get());
}

// Makes a place for one more connection than the limits allow: that of an idle one, else one of the
// reserve. Looks at the connections of the first loop only, whose thread this is; every loop has an
// equal part of all connections.
bool Listener::FindPlace(ConnectionPlace& place) {
    IoLoop& own = *loops_.front();
    const bool of_address = admission_.IsFull(place.address);
    if (own.CloseIdle(of_address ? place.address : "") && admission_.Enter(place)) return true;
    place.reserved = true;
    return admission_.Enter(place) || (own.CloseReserved() && admission_.Enter(place));
}

void Listener::End() {
    std::promise<void> closed;
    asio::post(loops_.front()->io(), [this, &closed] {
        error_code ignored;
        (void)acceptor_.close(ignored);
        pause_.cancel();
        closed.set_value();
    });
    closed.get_future().wait();
}

struct Network::Parts {
    explicit Parts(const ServeContext& serve_context)
        : context(serve_context),
          admission(
              {.total = std::min(context.options.max_connections,
                                 ConnectionsByDescriptors(context.options.reserved_connections)),
               .per_address = context.options.max_connections_per_address,
               .reserved = context.options.reserved_connections}) {
        const std::size_t count = std::max<std::size_t>(context.options.io_threads, 1);
        for (std::size_t i = 0; i < count; ++i) {
            loops.push_back(
                std::make_unique<IoLoop>(fmt::format("http_io_{}", i), context, admission));
        }
        listener.emplace(context, admission, loops);
    }

    const ServeContext context;
    Admission admission;
    std::vector<std::unique_ptr<IoLoop>> loops;
    std::size_t running = 0;  // number of started loops
    // Destroyed after the loops' threads have ended and before the loops, because its acceptor and
    // timer use the first loop's io_context.
    std::optional<Listener> listener;
};

Network::Network(const ServeContext& context) : parts_(std::make_unique<Parts>(context)) {}

Network::~Network() { Close(); }

Result<void> Network::Open() {
    KSANA_TRY_VOID(parts_->listener->Bind());
    for (const auto& loop : parts_->loops) {
        auto started = loop->Start();
        if (!started) {
            Close();
            return started;
        }
        ++parts_->running;
    }
    parts_->listener->Begin();
    return {};
}

void Network::Close() {
    if (parts_->running == 0) return;
    parts_->listener->End();
    const SteadyPoint deadline = parts_->context.clock.SteadyNow() + parts_->context.options.drain;
    const std::size_t running = std::exchange(parts_->running, 0);
    for (std::size_t i = 0; i < running; ++i) parts_->loops.at(i)->BeginDrain(deadline);
    for (std::size_t i = 0; i < running; ++i) parts_->loops.at(i)->Join();
}

std::uint16_t Network::port() const { return parts_->listener->port(); }

}  // namespace ksana::http_server
