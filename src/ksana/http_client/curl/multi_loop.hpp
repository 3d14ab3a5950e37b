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

// A file descriptor that the destructor closes. Negative: none.
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

// The loop of the client's thread, from Client::Start to Client::Stop. Drives the pool of plain
// connections and libcurl's multi handle with one epoll. libcurl's own loop (curl_multi_poll) looks
// at every call in each round; this one only at calls with events.
//
// The loop enforces the total timeout itself, because libcurl's does not run while a call waits for
// a free connection. The Client owns the loop; only the client's thread calls Run.
class MultiLoop {
  public:
    struct Parts {
        const ClientOptions& options;
        const Clock& clock;
        Inbox& inbox;  // must be open
        Counters& counters;
    };
    // Everything in `parts` must outlive the loop. Fails with kExhausted if epoll cannot be set up.
    static Result<std::unique_ptr<MultiLoop>> Make(const Parts& parts);

    ~MultiLoop();
    MultiLoop(const MultiLoop&) = delete;
    MultiLoop& operator=(const MultiLoop&) = delete;

    // Serves calls until `stop` is requested. Before it returns, closes the inbox and ends every
    // call with kCancelled.
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
        std::optional<PlainCall> plain;      // set while the call goes without libcurl
        std::unique_ptr<Transfer> transfer;  // set while the call goes through libcurl
        // The host whose address the plain pool learns from the transfer. Empty: none.
        std::string name;
        Deadlines::iterator deadline;
    };

    void TakeInbox();
    void Begin(Submission& submission);
    void BeginTransfer(Call& call, Submission submission, const Transfer::Before& before);
    void Wait();
    int WaitMilliseconds() const;
    void RunTimers();
    void Expire();
    void CompleteEnded();
    void CompleteEndedPlain();
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
    std::optional<SteadyPoint> timer_;  // when libcurl wants its next timeout action
    std::unordered_map<CallId, Call> calls_;
    Deadlines deadlines_;
    PlainPool plain_;
    std::vector<PlainCall*> ended_;  // scratch for CompleteEndedPlain
    // Declared last, so that it is destroyed first: its cleanup closes idle connections, whose
    // sockets are in the watch list.
    std::unique_ptr<CURLM, FreeMulti> multi_;  // null until the first call that needs it
};

}  // namespace ksana::http_client
