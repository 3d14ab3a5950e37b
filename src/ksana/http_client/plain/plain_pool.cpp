#include "ksana/http_client/plain/plain_pool.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "ksana/base/error/check.hpp"
#include "ksana/http_client/failure_text.hpp"
#include "ksana/http_client/plain/plain_call.hpp"

namespace ksana::http_client {
namespace {

using Outcome = PlainConnection::Outcome;

constexpr std::size_t kBufferSize = 64 << 10;
constexpr int kReadsAtOnce = 8;  // of one connection, before other connections get their turn

// Connect timeout for the cached address of a name. After it, libcurl tries the other addresses.
constexpr std::chrono::seconds kCachedAddressTimeout{1};

constexpr std::uint32_t kReadable = EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t kEnding = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

int FdOf(std::uint64_t word) { return static_cast<int>(word & 0xFFFFFFFFU); }

std::uint64_t WordOf(const PlainConnection& connection) {
    return std::uint64_t{1} << 63U | std::uint64_t{connection.generation} << 32U |
           static_cast<std::uint32_t>(connection.fd());
}

}  // namespace

PlainPool::PlainPool(const Parts& parts) : parts_(parts) {}

PlainPool::~PlainPool() = default;

void PlainPool::Begin(PlainCall& call) {
    if (hosts_.size() > 2 * parts_.options.max_connections + 1024) DropEmptyHosts();
    Place(call, HostOf(call));
    Settle();
}

PlainHost& PlainPool::HostOf(const PlainCall& call) {
    const std::string_view key = call.message.host();
    const auto found = hosts_.find(key);
    return found != hosts_.end() ? found->second : hosts_[std::string(key)];
}

void PlainPool::DropEmptyHosts() {
    std::erase_if(hosts_, [](const auto& entry) { return entry.second.Empty(); });
}

void PlainPool::Place(PlainCall& call, PlainHost& host) {
    if (call.resent || !UseIdle(call, host)) PlaceOnNewConnection(call, host);
}

bool PlainPool::UseIdle(PlainCall& call, PlainHost& host) {
    const SteadyPoint now = parts_.clock.SteadyNow();
    while (!host.idle.empty()) {
        PlainConnection& connection = *host.idle.back();
        // The call's egress rules may differ from those of the call that made the connection.
        if (call.request.egress != nullptr || !connection.allowed) {
            if (Refuses(call, connection.target())) return true;
            connection.allowed = connection.allowed || call.request.egress == nullptr;
        }
        host.idle.pop_back();
        if (IsExpired(connection, now)) {
            Close(connection);
            continue;
        }
        call.answer.reused = true;
        call.answer.remote = connection.remote();
        call.answer.timings.connect = call.Elapsed(now);
        GoOn(connection, connection.Carry(call));
        return true;
    }
    return false;
}

bool PlainPool::IsExpired(const PlainConnection& connection, SteadyPoint now) const {
    return now - connection.made() > kMaxConnectionLife ||
           now - connection.idle_since > kLongestIdle;
}

void PlainPool::PlaceOnNewConnection(PlainCall& call, PlainHost& host) {
    const SteadyPoint now = parts_.clock.SteadyNow();
    const PlainRequest& message = call.message;
    const bool is_name = !message.address;
    const auto address = is_name ? names_.Find(message.host(), now) : message.address;
    if (!address) {
        const bool full = host.open >= parts_.options.max_connections_per_host;
        return full ? Wait(call, host) : End(call, PlainCall::State::kRefused);
    }
    const Target target{*address, message.port};
    if (Refuses(call, target)) return;
    // A call that is sent again takes the place of its broken connection, whatever the limits.
    if (!call.resent && !HasRoom(host, target)) {
        if (host.open > 0) return Wait(call, host);
        // All connections to the target are libcurl's, and the pool does not learn when one becomes
        // free: a call to a name goes to libcurl instead of waiting.
        if (is_name) return End(call, PlainCall::State::kRefused);
    }
    if (!call.resent && !MakeRoom()) {
        starving_ = true;
        return Wait(call, host);
    }
    Connect(call, host, target);
}

bool PlainPool::HasRoom(const PlainHost& host, const Target& target) const {
    const std::size_t most = parts_.options.max_connections_per_host;
    return host.open < most && host.open + parts_.others.OpenTo(target) < most;
}

// Returns whether another connection may be opened. At the limit, closes the connection that has
// been idle longest, of any host; returns false if none is idle.
bool PlainPool::MakeRoom() {
    const std::size_t most = parts_.options.max_connections;
    const std::size_t share = std::max<std::size_t>(1, most / 4);
    if (open_ < share || open_ + parts_.others.open() < most) return true;
    PlainConnection* oldest = nullptr;
    for (auto& [key, host] : hosts_) {
        if (host.idle.empty()) continue;
        PlainConnection* const first = host.idle.front();
        if (oldest == nullptr || first->idle_since < oldest->idle_since) oldest = first;
    }
    if (oldest == nullptr) return false;
    Close(*oldest);
    return true;
}

void PlainPool::Wait(PlainCall& call, PlainHost& host) {
    call.state = PlainCall::State::kWaiting;
    call.host = &host;
    call.place = host.waiting.insert(host.waiting.end(), &call);
    ++waiting_;
}

bool PlainPool::Refuses(PlainCall& call, const Target& target) {
    const EgressRules& rules = call.request.egress ? *call.request.egress : parts_.options.egress;
    auto refusal = RefusalText(target.address, target.port, rules);
    if (!refusal) return false;
    call.answer.remote = WithPort(target.address.ToString(), target.port);
    call.answer.error = CallError::kEgressRefused;
    call.answer.error_text = std::move(*refusal);
    End(call, PlainCall::State::kEnded);
    return true;
}

void PlainPool::Connect(PlainCall& call, PlainHost& host, const Target& target) {
    parts_.counters.connections_made.fetch_add(1, std::memory_order_relaxed);
    int fd = -1;
    const int error = PlainConnection::Open(target, fd);
    if (error != 0) return FailToConnect(call, target, error);
    const SteadyPoint now = parts_.clock.SteadyNow();
    auto made = std::make_unique<PlainConnection>(fd, host, target, now);
    PlainConnection& connection = *made;
    connection.generation = ++generation_ & 0x7FFFFFFFU;
    connection.allowed = call.request.egress == nullptr;
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.u64 = WordOf(connection);
    if (epoll_ctl(parts_.epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        return FailToConnect(call, target, errno);
    }
    const auto index = static_cast<std::size_t>(fd);
    if (index >= connections_.size()) connections_.resize(index + 64);
    connections_[index] = std::move(made);
    ++host.open;
    ++open_;
    Duration patience = call.request.connect_timeout;
    if (!call.message.address) patience = std::min<Duration>(patience, kCachedAddressTimeout);
    connection.connect_deadline =
        now + std::clamp<Duration>(patience, Duration::zero(), std::chrono::hours(24 * 20));
    connecting_.emplace(connection.connect_deadline, fd);
    call.state = PlainCall::State::kInFlight;
    call.answer.remote = connection.remote();
    connection.Attach(call);
}

// A call to a name goes to libcurl, which may know other addresses of the name.
void PlainPool::FailToConnect(PlainCall& call, const Target& target, int error) {
    if (!call.message.address) {
        names_.Forget(call.message.host());
        return End(call, PlainCall::State::kRefused);
    }
    call.answer.remote = WithPort(target.address.ToString(), target.port);
    call.answer.error = error == ETIMEDOUT ? CallError::kTimeout : CallError::kConnect;
    call.answer.error_text =
        error == ETIMEDOUT ? TimedOut(call.answer) : NoConnection(error, call.answer.remote);
    End(call, PlainCall::State::kEnded);
}

void PlainPool::OnEvent(std::uint64_t word, std::uint32_t events) {
    PlainConnection* const connection = Find(word);
    if (connection == nullptr) return;
    if (connection->connecting) {
        OnConnecting(*connection, events);
    } else if (connection->call() != nullptr) {
        MoveBytes(*connection, events);
    } else if ((events & kReadable) != 0) {
        Close(*connection);  // idle: the target has closed it, or sends bytes without a request
    }
    Settle();
}

// Returns null if the connection of the event is closed by now.
PlainConnection* PlainPool::Find(std::uint64_t word) const {
    const auto index = static_cast<std::size_t>(FdOf(word));
    if (index >= connections_.size() || !connections_[index]) return nullptr;
    PlainConnection* const connection = connections_[index].get();
    return WordOf(*connection) == word ? connection : nullptr;
}

void PlainPool::OnConnecting(PlainConnection& connection, std::uint32_t events) {
    connecting_.erase({connection.connect_deadline, connection.fd()});
    connection.connecting = false;
    PlainCall& call = *connection.call();
    if (const int error = connection.ConnectError(); error != 0) {
        const Target target = connection.target();
        Close(connection);
        return FailToConnect(call, target, error);
    }
    call.answer.timings.connect = call.Elapsed(parts_.clock.SteadyNow());
    const Outcome outcome = connection.Carry(call);
    if (outcome != Outcome::kNothing) return GoOn(connection, outcome);
    MoveBytes(connection, events);
}

void PlainPool::MoveBytes(PlainConnection& connection, std::uint32_t events) {
    Outcome outcome = Outcome::kNothing;
    if ((events & kReadable) != 0) {
        if ((events & kEnding) != 0) connection.ending = true;
        if (buffer_.empty()) buffer_.resize(kBufferSize);
        outcome = connection.Read(buffer_, kReadsAtOnce, parts_.clock.SteadyNow());
    }
    if (outcome == Outcome::kNothing || outcome == Outcome::kMore) {
        const Outcome flushed = connection.Flush();
        if (flushed != Outcome::kNothing) outcome = flushed;
    }
    GoOn(connection, outcome);
}

void PlainPool::GoOn(PlainConnection& connection, Outcome outcome) {
    PlainCall& call = *connection.call();
    switch (outcome) {
        case Outcome::kNothing:
            return;
        case Outcome::kMore:
            unread_.push_back(WordOf(connection));
            return;
        case Outcome::kAnswered:
            connection.TakeCall();
            End(call, PlainCall::State::kEnded);
            return connection.reusable() ? Free(connection) : Close(connection);
        case Outcome::kBroken:
            if (call.answer.reused && !call.resent) return Resend(connection);
            break;
        case Outcome::kFault:
            break;
    }
    call.answer.error = CallError::kProtocol;
    call.answer.error_text = connection.fault();
    Close(connection);
    End(call, PlainCall::State::kEnded);
}

void PlainPool::Free(PlainConnection& connection) {
    PlainHost& host = connection.host();
    connection.idle_since = parts_.clock.SteadyNow();
    host.idle.push_back(&connection);
    if (!sweep_) sweep_ = connection.idle_since + kLongestIdle;
    if (!host.waiting.empty() || starving_) freed_.push_back(&host);
}

void PlainPool::Resend(PlainConnection& connection) {
    PlainCall& call = *connection.call();
    PlainHost& host = connection.host();
    Close(connection);
    call.resent = true;
    call.answer = {};
    PlaceOnNewConnection(call, host);
}

void PlainPool::Close(PlainConnection& connection) {
    connection.TakeCall();
    PlainHost& host = connection.host();
    std::erase(host.idle, &connection);
    if (connection.connecting) {
        connecting_.erase({connection.connect_deadline, connection.fd()});
    }
    --host.open;
    --open_;
    if (waiting_ > 0) freed_.push_back(&host);
    connections_[static_cast<std::size_t>(connection.fd())].reset();
}

void PlainPool::End(PlainCall& call, PlainCall::State state) {
    call.state = state;
    call.answer.timings.total = call.Elapsed(parts_.clock.SteadyNow());
    ended_.push_back(&call);
}

void PlainPool::Leave(PlainCall& call) {
    KSANA_CHECK(!call.IsOver(), "a call is given up that has ended");
    if (call.state == PlainCall::State::kWaiting) {
        call.host->waiting.erase(call.place);
        --waiting_;
    } else {
        Close(*call.connection);
    }
    call.answer.timings.total = call.Elapsed(parts_.clock.SteadyNow());
    Settle();
}

void PlainPool::TakeEnded(std::vector<PlainCall*>& ended) {
    ended.clear();
    ended.swap(ended_);
}

void PlainPool::Learn(std::string_view host, const IpAddress& address) {
    names_.Learn(host, address, parts_.clock.SteadyNow());
}

void PlainPool::Settle() {
    while (!freed_.empty()) {
        PlainHost& host = *freed_.back();
        freed_.pop_back();
        ServeWaiting(host);
        if (starving_) ServeStarving();
    }
}

void PlainPool::ServeWaiting(PlainHost& host) {
    while (!host.waiting.empty()) {
        if (host.idle.empty() && host.open >= parts_.options.max_connections_per_host) return;
        PlainCall& call = *host.waiting.front();
        host.waiting.pop_front();
        --waiting_;
        call.state = PlainCall::State::kInFlight;
        Place(call, host);
        if (call.state != PlainCall::State::kWaiting) continue;
        // Place put the call at the end of the queue; it belongs at the front.
        host.waiting.splice(host.waiting.begin(), host.waiting, call.place);
        return;
    }
}

// Serves the hosts in the order of how long their first call has waited.
void PlainPool::ServeStarving() {
    starving_ = false;
    std::vector<PlainHost*> hosts;
    for (auto& [key, host] : hosts_) {
        if (!host.waiting.empty()) hosts.push_back(&host);
    }
    std::ranges::sort(hosts, {},
                      [](const PlainHost* host) { return host->waiting.front()->begun; });
    for (PlainHost* host : hosts) {
        ServeWaiting(*host);
        if (starving_) return;
    }
}

std::optional<SteadyPoint> PlainPool::NextTimer() const {
    if (!unread_.empty()) return SteadyPoint::min();
    if (connecting_.empty()) return sweep_;
    const SteadyPoint next = connecting_.begin()->first;
    return sweep_ ? std::min(next, *sweep_) : next;
}

void PlainPool::RunTimers() {
    if (unread_.empty() && connecting_.empty() && !sweep_) return;
    const SteadyPoint now = parts_.clock.SteadyNow();
    for (const std::uint64_t word : std::exchange(unread_, {})) {
        PlainConnection* const connection = Find(word);
        if (connection != nullptr && connection->call() != nullptr) MoveBytes(*connection, EPOLLIN);
    }
    while (!connecting_.empty() && connecting_.begin()->first <= now) {
        PlainConnection& slow =
            *connections_[static_cast<std::size_t>(connecting_.begin()->second)];
        PlainCall& call = *slow.call();
        const Target target = slow.target();
        Close(slow);
        FailToConnect(call, target, ETIMEDOUT);
    }
    if (sweep_ && *sweep_ <= now) CloseOldIdle(now);
    Settle();
}

void PlainPool::CloseOldIdle(SteadyPoint now) {
    sweep_.reset();
    for (auto& [key, host] : hosts_) {
        while (!host.idle.empty() && now - host.idle.front()->idle_since >= kLongestIdle) {
            Close(*host.idle.front());
        }
        if (host.idle.empty()) continue;
        const SteadyPoint next = host.idle.front()->idle_since + kLongestIdle;
        sweep_ = sweep_ ? std::min(*sweep_, next) : next;
    }
    Settle();
    DropEmptyHosts();
}

}  // namespace ksana::http_client
