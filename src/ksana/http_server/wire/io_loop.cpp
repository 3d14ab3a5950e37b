#include "ksana/http_server/wire/io_loop.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <new>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/http_server/wire/answer_text.hpp"

namespace ksana::http_server {
namespace {

namespace asio = boost::asio;

// Returns a quarter of the deadline, within 5 ms and 1 s.
Duration IntervalFor(Duration deadline) {
    return std::clamp<Duration>(deadline / 4, std::chrono::milliseconds(5),
                                std::chrono::seconds(1));
}

Duration SweepInterval(const ServerOptions& options) {
    return IntervalFor(std::min({options.header_deadline, options.body_deadline,
                                 options.write_deadline, options.idle_timeout, options.linger}));
}

}  // namespace

IoLoop::IoLoop(std::string name, const ServeContext& context, Admission& admission)
    : context_(context),
      admission_(admission),
      sweep_interval_(SweepInterval(context.options)),
      work_(asio::make_work_guard(io_)),
      sweep_timer_(io_),
      mailbox_(std::make_shared<Mailbox>([this] { asio::post(io_, [this] { RunMail(); }); })),
      drain_deadline_(SteadyPoint::max()),
      thread_(std::move(name), [this](const std::stop_token&) { Run(); }) {}

// A step for which there is no memory fails alone: its connection is closed at its deadline.
void IoLoop::Run() {
    for (bool short_of_memory = false;;) {
        try {
            if (std::exchange(short_of_memory, false)) {
                ArmSweep();
                Log(LogLevel::kError, "out of memory: a connection is given up", {});
            }
            io_.run();
            return;
        } catch (const std::bad_alloc&) {
            short_of_memory = true;
        }
    }
}

// Replies may still hold the mailbox, which is open if Start was never called.
IoLoop::~IoLoop() { mailbox_->Close(); }

Result<void> IoLoop::Start() {
    ArmSweep();
    return thread_.Start();
}

void IoLoop::BeginDrain(SteadyPoint deadline) {
    asio::post(io_, [this, deadline] {
        draining_ = true;
        drain_deadline_ = deadline;
        sweep_interval_ = std::min(sweep_interval_, IntervalFor(context_.options.drain));
        ArmSweep();
        for (auto next = connections_.begin(); next != connections_.end();) {
            const auto connection = next->second.connection;
            ++next;  // before the connection removes itself
            connection->Drain();
        }
        EndIfEmpty();
    });
}

void IoLoop::Join() { thread_.Stop(); }

void IoLoop::Adopt(Socket socket, ConnectionPlace place, std::string peer,
                   asio::ssl::context* tls) {
    asio::dispatch(
        io_, [this, socket = std::move(socket), place = std::move(place), peer = std::move(peer),
              tls]() mutable { Open(std::move(socket), std::move(place), std::move(peer), tls); });
}

void IoLoop::Open(Socket socket, ConnectionPlace place, std::string peer, asio::ssl::context* tls) {
    if (draining_) {
        admission_.Leave(place);
        return;
    }
    auto transport = tls != nullptr ? MakeTlsTransport(std::move(socket), *tls, std::move(peer))
                                    : MakePlainTransport(std::move(socket), std::move(peer));
    auto connection =
        std::make_shared<Connection>(context_, *this, std::move(transport), place.reserved);
    connections_.emplace(
        connection.get(),
        Entry{.connection = connection, .place = std::move(place), .number = ++opened_});
    Increment(context_.statistics.connections_open);
    connection->Open();
}

void IoLoop::Forget(Connection& connection) {
    const auto found = connections_.find(&connection);
    if (found == connections_.end()) return;
    admission_.Leave(found->second.place);
    context_.statistics.connections_open.fetch_sub(1, std::memory_order_relaxed);
    connections_.erase(found);
    EndIfEmpty();
}

bool IoLoop::CloseIdle(const std::string& address) {
    std::shared_ptr<Connection> longest;
    SteadyPoint first = SteadyPoint::max();
    for (const auto& [key, entry] : connections_) {
        if (entry.place.reserved || (!address.empty() && entry.place.address != address)) continue;
        const auto until = entry.connection->IdleUntil();
        if (!until || *until >= first) continue;
        first = *until;
        longest = entry.connection;
    }
    if (longest) longest->Close();
    return longest != nullptr;
}

bool IoLoop::CloseReserved() {
    const Entry* oldest = nullptr;
    for (const auto& [key, entry] : connections_) {
        if (!entry.place.reserved) continue;
        if (oldest == nullptr || entry.number < oldest->number) oldest = &entry;
    }
    if (oldest == nullptr) return false;
    const std::shared_ptr<Connection> connection = oldest->connection;
    connection->Close();
    return true;
}

// After the last connection of a draining loop, removes everything that keeps io_.run() going.
void IoLoop::EndIfEmpty() {
    if (!draining_ || !connections_.empty()) return;
    mailbox_->Close();
    sweep_timer_.cancel();
    work_.reset();
}

void IoLoop::RunMail() {
    for (const Mailbox::Task& task : mailbox_->TakeAll()) task();
}

void IoLoop::ArmSweep() {
    sweep_timer_.expires_after(sweep_interval_);
    sweep_timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) Sweep();
    });
}

void IoLoop::Sweep() {
    const SteadyPoint now = context_.clock.SteadyNow();
    if (now >= drain_deadline_) {
        CloseAll();
    } else {
        for (auto next = connections_.begin(); next != connections_.end();) {
            const auto connection = next->second.connection;
            ++next;
            connection->Sweep(now);
        }
    }
    if (!draining_ || !connections_.empty()) ArmSweep();
}

void IoLoop::CloseAll() {
    while (!connections_.empty()) {
        const auto connection = connections_.begin()->second.connection;
        connection->Close();
    }
}

std::string_view IoLoop::date() {
    const auto second = std::chrono::floor<std::chrono::seconds>(context_.clock.Now());
    if (second != date_second_) {
        date_second_ = second;
        date_ = HttpDate(second);
    }
    return date_;
}

}  // namespace ksana::http_server
