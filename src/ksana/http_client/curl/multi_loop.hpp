#pragma once

#include <sys/epoll.h>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/http_client/curl/transfer.hpp"
#include "ksana/http_client/inbox.hpp"
#include "ksana/http_client/plain/plain_pool.hpp"
#include "ksana/http_client/plain/watch_list.hpp"
#include "ksana/libcurl/libcurl.hpp"

namespace ksana::http_client {

// A descriptor that is closed with its owner.
class OwnedFd {
  public:
    explicit OwnedFd(int fd) : fd_(fd) {}
    ~OwnedFd();
    OwnedFd(const OwnedFd&) = delete;
    OwnedFd& operator=(const OwnedFd&) = delete;
    int get() const { return fd_; }

  private:
    const int fd_;
};

// The work of the client's thread from one start to the next stop: drives the pool of plain
// connections and libcurl's multi handle by one epoll. libcurl's own interface for that
// (curl_multi_poll) looks at every call each time; this one at those that have something to do.
// Total timeouts are ours, as libcurl's do not run while a call waits for a free connection.
class MultiLoop {
  public:
    struct Parts {
        const ClientOptions& options;
        const Clock& clock;
        Inbox& inbox;  // open
        Counters& counters;
    };
    static Result<std::unique_ptr<MultiLoop>> Make(const Parts& parts);

    ~MultiLoop();
    MultiLoop(const MultiLoop&) = delete;
    MultiLoop& operator=(const MultiLoop&) = delete;

    // Until asked to stop. Closes the inbox and ends every call before it returns.
    void Run(const std::stop_token& stop);

  private:
    struct FreeMulti {
        void operator()(CURLM* multi) const { libcurl::Api().curl_multi_cleanup(multi); }
    };

    MultiLoop(const Parts& parts, int epoll_fd);

    static int OnSocket(CURL* easy, curl_socket_t socket, int what, void* self, void* unused);
    static int OnTimer(CURLM* multi, long timeout_ms, void* self);

    std::optional<std::string> SetUp();
    void SetUpMulti();
    using Deadlines = std::set<std::pair<SteadyPoint, CallId>>;
    struct Call {
        std::optional<PlainCall> plain;      // goes without libcurl …
        std::unique_ptr<Transfer> transfer;  // … or with it
        std::string name;                    // the host whose address is to be learned
        Deadlines::iterator deadline;
    };

    void TakeInbox();
    void Begin(Submission& submission);
    void BeginTransfer(Call& call, Submission submission, const Transfer::Before& before);
    void Wait();
    int WaitMilliseconds() const;
    void RunTimers();
    void Expire();
    void Harvest();
    void HarvestPlain();
    void Add(Transfer& transfer);
    void EndAs(CallId id, CallError error);
    void EndPlainAs(PlainCall& call, CallError error);
    void CompleteTransfer(Transfer& transfer, CallAnswer answer);
    void Complete(CallId id, const CallDone& done, CallAnswer answer);
    void EndEverything();
    void Report(const CallDone& done, CallAnswer answer);

    const Parts parts_;
    const OwnedFd epoll_;
    WatchList watches_;
    const TransferSettings settings_;
    std::array<epoll_event, 256> events_{};
    InboxBatch batch_;
    std::optional<SteadyPoint> timer_;  // when libcurl wants to be called
    std::unordered_map<CallId, Call> calls_;
    Deadlines deadlines_;
    PlainPool plain_;
    std::vector<PlainCall*> ended_;  // of those without libcurl
    // Last, so that it goes first: it closes the connections that idle, and their sockets are in
    // the watch list.
    std::unique_ptr<CURLM, FreeMulti> multi_;  // null until the first call that needs it
};

}  // namespace ksana::http_client
