#include "ksana/worker.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ksana/base/error/check.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/sdk/worker_core.hpp"
#include "ksana/server/settings/token_file.hpp"

namespace ksana {
namespace {

// Blocks the signals that end a worker, and receives them on a descriptor. Lives on the stack of
// Worker::Run, whose threads inherit the mask.
class Signals {
  public:
    explicit Signals(bool wanted) : wanted_(wanted) {
        if (!wanted_) return;
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set, &before_);
        fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    }
    ~Signals() {
        if (!wanted_) return;
        if (fd_ >= 0) ::close(fd_);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;

    int fd() const { return fd_; }
    bool Take() const {
        signalfd_siginfo info{};
        return fd_ >= 0 && ::read(fd_, &info, sizeof info) == sizeof info;
    }

  private:
    const bool wanted_;
    sigset_t before_{};
    int fd_ = -1;
};

std::string Variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::function<Result<std::string>()> TokenOf(const WorkerOptions& options) {
    if (!options.token.empty()) return [token = options.token] { return token; };
    std::string file =
        options.token_file.empty() ? Variable("KSANA_TOKEN_FILE") : options.token_file;
    if (file.empty()) return [token = Variable("KSANA_TOKEN")] { return token; };
    return [file = std::move(file)] { return server::ReadTokenFile(file); };
}

// The parts of workers whose handlers did not end: their threads still use them. Never destroyed.
void KeepForEver(std::unique_ptr<detail::WorkerCore> core) {
    static Mutex mutex;
    static auto& kept =
        *std::make_unique<std::vector<std::unique_ptr<detail::WorkerCore>>>().release();
    const MutexLock lock(mutex);
    kept.push_back(std::move(core));
}

void Notify(int events) {
    const std::uint64_t one = 1;
    if (::write(events, &one, sizeof one) < 0) Log(LogLevel::kError, "an eventfd is full");
}

}  // namespace

namespace detail {

WorkerCore::WorkerCore(WorkerOptions options)
    : options_(std::move(options)),
      threads_(clock_, "ksana-tasks", static_cast<std::size_t>(std::clamp(options_.slots, 1, 500))),
      runner_({.clock = clock_,
               .context = context_,
               .renew_locks = false,
               .threads = threads_,
               .blocking = no_threads_}),
      tasks_(model::ActionKind::kQueue, runner_, handlers_),
      jobs_(model::ActionKind::kHandler, runner_, handlers_),
      events_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    KSANA_CHECK(events_ >= 0, "no descriptor for the end of a worker");
}

WorkerCore::~WorkerCore() {
    if (const auto made = worker()) made->Stop();
    threads_.Stop();
    ::close(events_);
}

Result<void> WorkerCore::Add(std::string type, TaskHandler handler) {
    const MutexLock lock(mutex_);
    if (ran_) return Error(Code::kConflict, "handlers are registered before Run");
    return handlers_.Add(std::move(type), std::move(handler));
}

std::shared_ptr<worker::Worker> WorkerCore::worker() const {
    const MutexLock lock(mutex_);
    return worker_;
}

Result<std::shared_ptr<worker::Worker>> WorkerCore::Make() {
    if (handlers_.empty()) return Error(Code::kInvalidArgument, "the worker has no handler");
    worker::WorkerOptions wanted;
    wanted.wire.servers = options_.server.empty() ? Variable("KSANA_SERVER") : options_.server;
    if (wanted.wire.servers.empty()) wanted.wire.servers = "http://127.0.0.1:7100";
    wanted.wire.ca_file = options_.ca_file;
    wanted.wire.token = TokenOf(options_);
    wanted.metrics = options_.metrics;
    wanted.loop.lease = options_.lease;
    wanted.loop.drain_timeout = options_.drain_timeout;
    worker::Identity& who = wanted.loop.identity;
    who.name = options_.name.empty() ? worker::DefaultName() : options_.name;
    who.incarnation = UuidGenerator(clock_, random_).Next();
    who.host = worker::HostName();
    who.version = "library";
    who.slots = options_.slots;
    for (const auto& [name, value] : options_.labels) who.labels.Add(name, value);
    KSANA_TRY(std::shared_ptr<worker::Worker> made,
              worker::Worker::Make(std::move(wanted), {.clock = clock_,
                                                       .random = random_,
                                                       .executors = {&tasks_, &jobs_},
                                                       .over = [this] { Notify(events_); }}));
    return made;
}

Result<void> WorkerCore::Run() {
    {
        const MutexLock lock(mutex_);
        if (std::exchange(ran_, true)) return Error(Code::kConflict, "Run is called once");
    }
    // Before any thread of the worker exists.
    const Signals signals(options_.signals);
    KSANA_TRY(const std::shared_ptr<worker::Worker> made, Make());
    KSANA_TRY_VOID(threads_.Start());
    KSANA_TRY_VOID(made->Start());
    bool stopped = false;
    {
        const MutexLock lock(mutex_);
        worker_ = made;
        stopped = stopped_;
    }
    if (stopped) made->Drain();
    int asked = 0;
    for (;;) {
        std::array<pollfd, 2> watched = {pollfd{events_, POLLIN, 0},
                                         pollfd{signals.fd(), POLLIN, 0}};
        if (::poll(watched.data(), watched.size(), -1) < 0) continue;  // interrupted
        if (signals.Take()) {
            if (++asked == 1) made->Drain();
            if (asked == 2) made->Hurry();
        }
        std::uint64_t count = 0;
        if (::read(events_, &count, sizeof count) == sizeof count) break;
    }
    made->Stop();
    if (auto failure = made->failure()) return *std::move(failure);
    return {};
}

void WorkerCore::Stop() {
    std::shared_ptr<worker::Worker> made;
    {
        const MutexLock lock(mutex_);
        stopped_ = true;
        made = worker_;
    }
    if (made) made->Drain();
}

std::size_t WorkerCore::running() const {
    const auto made = worker();
    return made ? made->running() : 0;
}

std::uint16_t WorkerCore::metrics_port() const {
    const auto made = worker();
    return made ? made->metrics_port() : std::uint16_t{0};
}

}  // namespace detail

Worker::Worker(WorkerOptions options)
    : core_(std::make_unique<detail::WorkerCore>(std::move(options))) {}

Worker::~Worker() {
    if (core_->IsStuck()) KeepForEver(std::move(core_));
}

Result<void> Worker::Add(std::string type, TaskHandler handler) {
    return core_->Add(std::move(type), std::move(handler));
}

Result<void> Worker::Run() { return core_->Run(); }

void Worker::Stop() { core_->Stop(); }

std::size_t Worker::running() const { return core_->running(); }

std::uint16_t Worker::metrics_port() const { return core_->metrics_port(); }

}  // namespace ksana
