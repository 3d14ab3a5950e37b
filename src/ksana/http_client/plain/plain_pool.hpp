#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/http_client/plain/address_cache.hpp"
#include "ksana/http_client/plain/plain_call.hpp"
#include "ksana/http_client/plain/plain_connection.hpp"
#include "ksana/http_client/plain/watch_list.hpp"

namespace ksana::http_client {

// The connection pool for calls that need no libcurl: plain HTTP/1.1 to an IP address, or to a name
// whose address libcurl has found recently. The pool keeps connections alive and reuses the most
// recently used one first. At a connection limit, calls wait in order of arrival. The limits count
// libcurl's sockets too; each path always gets a quarter of `max_connections`, so that neither
// starves the other (0017).
//
// The pool calls no callbacks; its owner, MultiLoop, fetches ended calls with TakeEnded. Client's
// thread only.
class PlainPool {
  public:
    struct Parts {
        const ClientOptions& options;
        const Clock& clock;
        Counters& counters;
        const WatchList& others;  // libcurl's sockets
        int epoll_fd;
    };
    explicit PlainPool(const Parts& parts);
    ~PlainPool();
    PlainPool(const PlainPool&) = delete;
    PlainPool& operator=(const PlainPool&) = delete;

    // Returns whether an epoll event's data word names a connection of the pool. Other words hold a
    // descriptor of libcurl or the inbox. A pool's word holds a descriptor and its connection's
    // generation.
    static bool IsOurs(std::uint64_t word) { return (word & kOurs) != 0; }

    // Starts a call. `call` must stay valid until TakeEnded returns it or Leave is called with it.
    void Begin(PlainCall& call);

    // Abandons a call, for a timeout or a cancellation. The call must not have ended.
    void Leave(PlainCall& call);

    void OnEvent(std::uint64_t word, std::uint32_t events);

    // RunTimers does what is due: further reads, connect timeouts, closing of old idle connections.
    // NextTimer returns when to call it next; SteadyPoint::min() means at once, nullopt never.
    void RunTimers();
    std::optional<SteadyPoint> NextTimer() const;

    // Replaces `ended` by the calls that have ended since the last time, in order. Their state is
    // kEnded or kRefused.
    void TakeEnded(std::vector<PlainCall*>& ended);

    // Caches the address that libcurl has connected to for `host` (the value of a Host header).
    void Learn(std::string_view host, const IpAddress& address);

    std::size_t open() const { return open_; }

  private:
    static constexpr std::uint64_t kOurs = std::uint64_t{1} << 63U;

    struct TextHash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    using Hosts = std::unordered_map<std::string, PlainHost, TextHash, std::equal_to<>>;

    PlainHost& HostOf(const PlainCall& call);
    void DropEmptyHosts();

    // Place gives the call an idle or a new connection, queues it, or ends it. PlaceOnNewConnection
    // does the same without idle connections.
    void Place(PlainCall& call, PlainHost& host);
    void PlaceOnNewConnection(PlainCall& call, PlainHost& host);
    bool UseIdle(PlainCall& call, PlainHost& host);
    bool HasRoom(const PlainHost& host, const Target& target) const;
    bool MakeRoom();
    void Wait(PlainCall& call, PlainHost& host);
    bool Refuses(PlainCall& call, const Target& target);
    void Connect(PlainCall& call, PlainHost& host, const Target& target);
    void FailToConnect(PlainCall& call, const Target& target, int error);

    PlainConnection* Find(std::uint64_t word) const;
    void OnConnecting(PlainConnection& connection, std::uint32_t events);
    void MoveBytes(PlainConnection& connection, std::uint32_t events);
    void GoOn(PlainConnection& connection, PlainConnection::Outcome outcome);
    void Free(PlainConnection& connection);
    void Resend(PlainConnection& connection);
    void Close(PlainConnection& connection);
    void End(PlainCall& call, PlainCall::State state);

    // Gives freed connections to waiting calls.
    void Settle();
    void ServeWaiting(PlainHost& host);
    void ServeStarving();
    void CloseOldIdle(SteadyPoint now);
    bool IsExpired(const PlainConnection& connection, SteadyPoint now) const;

    const Parts parts_;
    AddressCache names_;
    Hosts hosts_;
    std::vector<std::unique_ptr<PlainConnection>> connections_;  // by descriptor
    std::size_t open_ = 0;
    std::size_t waiting_ = 0;
    bool starving_ = false;  // a call waits because of `max_connections`
    std::uint32_t generation_ = 0;
    std::vector<PlainHost*> freed_;  // hosts with a connection that became idle or closed
    std::set<std::pair<SteadyPoint, int>> connecting_;
    std::vector<std::uint64_t> unread_;  // words of connections with more to read
    std::optional<SteadyPoint> sweep_;   // when to close old idle connections
    std::vector<PlainCall*> ended_;
    std::string buffer_;  // for receiving; allocated with the first answer
};

}  // namespace ksana::http_client
