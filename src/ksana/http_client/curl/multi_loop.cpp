#include "ksana/http_client/curl/multi_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "ksana/base/error/check.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/http_client/failure_text.hpp"

namespace ksana::http_client {
namespace {

// The upper bound for timeouts, so that adding one to a time point cannot overflow.
constexpr Duration kLongestTimeout = std::chrono::hours(24 * 366);

std::uint32_t EventsOf(int what) {
    std::uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
    return events;
}

int ActionOf(std::uint32_t events) {
    int action = 0;
    if ((events & EPOLLIN) != 0) action |= CURL_CSELECT_IN;
    if ((events & EPOLLOUT) != 0) action |= CURL_CSELECT_OUT;
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) action |= CURL_CSELECT_ERR;
    return action;
}

void SetMulti(CURLM* multi, CURLMoption option, std::size_t value) {
    libcurl::Api().curl_multi_setopt(multi, option, static_cast<long>(value));
}

std::optional<std::string> SetUpLibrary() {
    if (const auto loaded = libcurl::Load(); !loaded) return loaded.error().message;
    const auto* info = libcurl::Api().curl_version_info(CURLVERSION_NOW);
    if ((info->features & CURL_VERSION_ASYNCHDNS) != 0) return std::nullopt;
    return "this libcurl resolves names on the calling thread: every call would wait";
}

}  // namespace

OwnedFd::~OwnedFd() {
    if (fd_ >= 0) close(fd_);
}

Result<std::unique_ptr<MultiLoop>> MultiLoop::Make(const Parts& parts) {
    const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = parts.inbox.wake_fd();
    if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, parts.inbox.wake_fd(), &event) != 0) {
        const std::string reason = std::generic_category().message(errno);
        if (epoll_fd >= 0) close(epoll_fd);
        return Error(Code::kExhausted, "cannot set up epoll for the HTTP client: " + reason);
    }
    // The constructor is private: make_unique cannot call it.
    struct Public : MultiLoop {
        Public(const Parts& p, int fd) : MultiLoop(p, fd) {}
    };
    return std::unique_ptr<MultiLoop>(std::make_unique<Public>(parts, epoll_fd));
}

MultiLoop::MultiLoop(const Parts& parts, int epoll_fd)
    : parts_(parts),
      epoll_(epoll_fd),
      watches_(epoll_fd),
      settings_{parts.options.ca_file, parts.options.crl_file, parts.options.egress, watches_},
      plain_({parts.options, parts.clock, parts.counters, watches_, epoll_fd}) {}

// Run has ended every call; only idle connections are left.
MultiLoop::~MultiLoop() { KSANA_CHECK(calls_.empty(), "calls are left when the HTTP client goes"); }

// Loads libcurl and makes the multi handle, with the first call that needs them (0023). Returns the
// error text on failure.
std::optional<std::string> MultiLoop::SetUp() {
    if (multi_) return std::nullopt;
    if (auto fault = SetUpLibrary()) return fault;
    multi_.reset(libcurl::Api().curl_multi_init());
    if (!multi_) return "libcurl gives no multi handle";
    SetUpMulti();
    return std::nullopt;
}

void MultiLoop::SetUpMulti() {
    void* self = this;
    CURLM* multi = multi_.get();
    libcurl::Api().curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &MultiLoop::OnSocket);
    libcurl::Api().curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, self);
    libcurl::Api().curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &MultiLoop::OnTimer);
    libcurl::Api().curl_multi_setopt(multi, CURLMOPT_TIMERDATA, self);
    SetMulti(multi, CURLMOPT_MAX_HOST_CONNECTIONS, parts_.options.max_connections_per_host);
    SetMulti(multi, CURLMOPT_MAXCONNECTS, parts_.options.max_connections);
}

int MultiLoop::OnSocket(CURL* /*easy*/, curl_socket_t socket, int what, void* self,
                        void* /*unused*/) {
    static_cast<MultiLoop*>(self)->watches_.Want(socket, EventsOf(what));
    return 0;
}

int MultiLoop::OnTimer(CURLM* /*multi*/, long timeout_ms, void* self) {
    auto& loop = *static_cast<MultiLoop*>(self);
    if (timeout_ms < 0) {
        loop.timer_.reset();
    } else {
        loop.timer_ = loop.parts_.clock.SteadyNow() + std::chrono::milliseconds(timeout_ms);
    }
    return 0;
}

void MultiLoop::Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { parts_.inbox.Wake(); });
    while (!stop.stop_requested()) {
        TakeInbox();
        RunTimers();
        Expire();
        CompleteEnded();
        Wait();
        CompleteEnded();
    }
    EndEverything();
}

void MultiLoop::TakeInbox() {
    parts_.inbox.Take(batch_);
    for (Submission& submission : batch_.submissions) Begin(submission);
    for (const CallId id : batch_.cancels) EndAs(id, CallError::kCancelled);
}

void MultiLoop::Begin(Submission& submission) {
    if (!submission.fault.empty()) {
        Report(submission.done,
               {.error = CallError::kOther, .error_text = std::move(submission.fault)});
        return;
    }
    const CallId id = submission.id;
    const SteadyPoint now = parts_.clock.SteadyNow();
    const auto timeout = std::clamp(submission.request.timeout, Duration::zero(), kLongestTimeout);
    Call& call = calls_[id];
    call.deadline = deadlines_.emplace_hint(deadlines_.end(), now + timeout, id);
    if (submission.plain) {
        plain_.Begin(call.plain.emplace(std::move(submission), now));
    } else {
        BeginTransfer(call, std::move(submission), {});
    }
}

void MultiLoop::BeginTransfer(Call& call, Submission submission, const Transfer::Before& before) {
    if (auto fault = SetUp()) {
        return Complete(submission.id, submission.done,
                        {.error = CallError::kOther, .error_text = std::move(*fault)});
    }
    call.transfer = std::make_unique<Transfer>(settings_, std::move(submission), before);
    Add(*call.transfer);
}

// Gives libcurl the connections that the plain pool leaves of `max_connections`, but at least a
// quarter of them (0017).
void MultiLoop::Add(Transfer& transfer) {
    const std::size_t most = parts_.options.max_connections;
    const std::size_t left = most - std::min(most, plain_.open());
    SetMulti(multi_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS,
             std::max({left, most / 4, std::size_t{1}}));
    const CURLMcode code = libcurl::Api().curl_multi_add_handle(multi_.get(), transfer.handle());
    KSANA_CHECK(code == CURLM_OK, libcurl::Api().curl_multi_strerror(code));
}

int MultiLoop::WaitMilliseconds() const {
    auto until = SteadyPoint::max();
    if (timer_) until = *timer_;
    if (const auto plain = plain_.NextTimer()) until = std::min(until, *plain);
    if (!deadlines_.empty()) until = std::min(until, deadlines_.begin()->first);
    if (until == SteadyPoint::min()) return 0;
    if (until == SteadyPoint::max()) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - parts_.clock.SteadyNow());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void MultiLoop::Wait() {
    const int timeout = parts_.inbox.PrepareToSleep() ? WaitMilliseconds() : 0;
    const int count =
        epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), timeout);
    int running = 0;
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events_[static_cast<std::size_t>(i)];
        const int fd = event.data.fd;
        if (PlainPool::IsOurs(event.data.u64)) {
            plain_.OnEvent(event.data.u64, event.events);
        } else if (fd == parts_.inbox.wake_fd()) {
            parts_.inbox.DrainWakes();
        } else if (watches_.OnEvent(fd)) {
            libcurl::Api().curl_multi_socket_action(multi_.get(), fd, ActionOf(event.events),
                                                    &running);
        }
    }
}

void MultiLoop::RunTimers() {
    plain_.RunTimers();
    if (!timer_ || *timer_ > parts_.clock.SteadyNow()) return;
    timer_.reset();  // libcurl sets the next one through OnTimer
    int running = 0;
    libcurl::Api().curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
}

void MultiLoop::Expire() {
    if (deadlines_.empty()) return;
    const SteadyPoint now = parts_.clock.SteadyNow();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
        EndAs(deadlines_.begin()->second, CallError::kTimeout);
    }
}

// Completes the plain calls that have ended. Passes those that need libcurl after all to a
// Transfer, under their original deadline.
void MultiLoop::CompleteEndedPlain() {
    plain_.TakeEnded(ended_);
    for (PlainCall* const ended : ended_) {
        Call& call = calls_.at(ended->id);
        if (ended->state == PlainCall::State::kEnded) {
            const CallDone done = std::move(ended->done);
            Complete(ended->id, done, std::move(ended->answer));
            continue;
        }
        call.name = ended->message.host();
        const Transfer::Before before{.elapsed = ended->answer.timings.total,
                                      .sent = ended->resent};
        Submission submission{ended->id, std::move(ended->request), std::move(ended->done), {}, {}};
        call.plain.reset();
        BeginTransfer(call, std::move(submission), before);
    }
}

void MultiLoop::CompleteEnded() {
    CompleteEndedPlain();
    if (!multi_) return;
    int left = 0;
    while (const CURLMsg* message = libcurl::Api().curl_multi_info_read(multi_.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        const CURLcode code = message->data.result;
        Transfer& transfer = Transfer::Of(message->easy_handle);
        libcurl::Api().curl_multi_remove_handle(multi_.get(), transfer.handle());
        if (transfer.NextHop(code)) {
            Add(transfer);
        } else {
            CompleteTransfer(transfer, transfer.Finish(code));
        }
    }
}

void MultiLoop::EndAs(CallId id, CallError error) {
    auto found = calls_.find(id);
    if (found != calls_.end() && found->second.plain && found->second.plain->IsOver()) {
        CompleteEndedPlain();  // completes the call, or passes it to libcurl
        found = calls_.find(id);
    }
    if (found == calls_.end()) return;
    if (found->second.plain) return EndPlainAs(*found->second.plain, error);
    Transfer& transfer = *found->second.transfer;
    CallAnswer answer = transfer.FinishAs(error);
    libcurl::Api().curl_multi_remove_handle(multi_.get(), transfer.handle());
    CompleteTransfer(transfer, std::move(answer));
}

void MultiLoop::EndPlainAs(PlainCall& call, CallError error) {
    const bool waited = call.state == PlainCall::State::kWaiting;
    plain_.Leave(call);
    CallAnswer& answer = call.answer;
    answer.error = error;
    if (error == CallError::kCancelled) {
        answer.error_text = "cancelled";
    } else if (waited) {
        answer.error_text = "no free connection to " + std::string(call.message.host());
    } else {
        answer.error_text = TimedOut(answer);
    }
    const CallDone done = std::move(call.done);
    Complete(call.id, done, std::move(answer));
}

void MultiLoop::CompleteTransfer(Transfer& transfer, CallAnswer answer) {
    const auto made = static_cast<std::uint64_t>(std::max(0L, transfer.connections_made()));
    parts_.counters.connections_made.fetch_add(made, std::memory_order_relaxed);
    const auto found = calls_.find(transfer.id());
    KSANA_CHECK(found != calls_.end(), "a call that nobody knows has ended");
    if (answer.error == CallError::kNone && !found->second.name.empty()) {
        if (const auto address = transfer.ConnectedTo()) {
            plain_.Learn(found->second.name, *address);
        }
    }
    const CallDone done = transfer.TakeDone();
    Complete(transfer.id(), done, std::move(answer));
}

// Removes the call before it calls `done`.
void MultiLoop::Complete(CallId id, const CallDone& done, CallAnswer answer) {
    if (answer.reused) {
        parts_.counters.connections_reused.fetch_add(1, std::memory_order_relaxed);
    }
    const auto found = calls_.find(id);
    deadlines_.erase(found->second.deadline);
    calls_.erase(found);
    Report(done, std::move(answer));
}

void MultiLoop::Report(const CallDone& done, CallAnswer answer) {
    const auto index = static_cast<std::size_t>(answer.error);
    parts_.counters.by_error[index].fetch_add(1, std::memory_order_relaxed);
    done(std::move(answer));
}

// Closes the inbox first, so that a Send from now on, even from a `done`, ends at once.
void MultiLoop::EndEverything() {
    InboxBatch left = parts_.inbox.Close();
    while (!calls_.empty()) EndAs(calls_.begin()->first, CallError::kCancelled);
    for (Submission& submission : left.submissions) {
        Report(submission.done, {.error = CallError::kCancelled, .error_text = "cancelled"});
    }
}

}  // namespace ksana::http_client
