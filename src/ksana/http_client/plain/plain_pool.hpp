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
#include "ksana/http_client/plain/name_memory.hpp"
#include "ksana/http_client/plain/plain_call.hpp"
#include "ksana/http_client/plain/plain_connection.hpp"
#include "ksana/http_client/plain/watch_list.hpp"

namespace ksana::http_client {

// Carries the calls that need no libcurl: plain HTTP/1.1 to an address, or to a name whose address
// libcurl has found a moment ago. Keeps its connections alive, hands them out last used first, and
// lets calls wait in order where there are as many as allowed. The limits are those of libcurl's
// sockets and these together; each way keeps a quarter of all, so that neither starves the other.
//
// Nothing is called back: what has ended is to be fetched with TakeEnded. Client's thread only.
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

    // Epoll's word for one of our connections, and not for a descriptor of libcurl's.
    static bool IsOurs(std::uint64_t word) { return (word & kOurs) != 0; }

    // The call stays where it is until it is in TakeEnded or Leave was called.
    void Begin(PlainCall& call);

    // The call is over for its owner; not for one that is in TakeEnded.
    void Leave(PlainCall& call);

    void OnEvent(std::uint64_t word, std::uint32_t events);

    // What is due by now; and when the next is.
    void RunTimers();
    std::optional<SteadyPoint> NextTimer() const;

    // In the order in which they ended; theirs is the state kEnded or kRefused.
    void TakeEnded(std::vector<PlainCall*>& ended);

    // libcurl has found the host there.
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

    // Gives the call a connection, a place in the queue, or an end.
    void Place(PlainCall& call, PlainHost& host);
    void PlaceAnew(PlainCall& call, PlainHost& host);
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
    void SendOnceMore(PlainConnection& connection);
    void Close(PlainConnection& connection);
    void End(PlainCall& call, PlainCall::State state);

    // What has become possible by now: calls that waited get connections.
    void Settle();
    void ServeWaiting(PlainHost& host);
    void ServeStarving();
    void CloseOldIdle(SteadyPoint now);
    bool IsWorn(const PlainConnection& connection, SteadyPoint now) const;

    const Parts parts_;
    NameMemory names_;
    Hosts hosts_;
    std::vector<std::unique_ptr<PlainConnection>> connections_;  // by descriptor
    std::size_t open_ = 0;
    std::size_t waiting_ = 0;
    bool starving_ = false;  // a call waits because of the limit of all hosts together
    std::uint32_t generation_ = 0;
    std::vector<PlainHost*> freed_;  // of which a connection has ended
    std::set<std::pair<SteadyPoint, int>> connecting_;
    std::vector<std::uint64_t> unread_;  // there may be more to read
    std::optional<SteadyPoint> sweep_;
    std::vector<PlainCall*> ended_;
    std::string buffer_;  // made with the first answer
};

}  // namespace ksana::http_client
