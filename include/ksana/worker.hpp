#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/task_context.hpp"

namespace ksana {

struct WorkerOptions {
    // "http://127.0.0.1:7100"; several separated by commas: the next one when one is away. Empty:
    // KSANA_SERVER, else http://127.0.0.1:7100.
    std::string server = {};
    // Shown in the list of workers. A worker that starts under the name of an older one takes over
    // at once, so a name that stays the same over restarts is best. Empty: HOST-PID.
    std::string name = {};
    int slots = 1;  // handlers that run at once, each on a thread; at most 500
    std::map<std::string, std::string> labels = {};
    // The bearer token. Empty: that of the file, else KSANA_TOKEN_FILE, else KSANA_TOKEN.
    std::string token = {};
    std::string token_file = {};
    std::string ca_file = {};  // PEM; empty: the system's certificates
    // How long the worker holds a task without an answer of a server; renewed at a third of it.
    Duration lease = std::chrono::seconds(30);
    // How long handlers may go on after Stop or a signal, before they are cancelled and their tasks
    // given back.
    Duration drain_timeout = std::chrono::seconds(30);
    std::string metrics = {};  // serves Prometheus metrics at this "ADDRESS:PORT"; empty: not
    // Run ends on SIGTERM and SIGINT, which it blocks: call it before other threads are started. A
    // second signal ends the drain.
    bool signals = true;
};

namespace detail {
class WorkerCore;
}

// Carries out tasks of a server in this program. Thread-safe.
//
//   ksana::Worker worker({.server = "http://127.0.0.1:7100", .name = "resizer", .slots = 8});
//   worker.Handle("resize", [](ksana::TaskContext& task) { return Resize(task.payload()); });
//   const auto ended = worker.Run();
class Worker {
  public:
    explicit Worker(WorkerOptions options = {});
    // A handler that does not end is left behind with its thread; what it uses must stay.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // Registers the handler of a type of tasks, and of jobs whose action is the handler of this
    // name. `function` takes a TaskContext& and returns void or its result as JSON. An exception
    // that leaves it is a failure of that attempt and of nothing else. kInvalidArgument: the type
    // is no identifier; kAlreadyExists: it has a handler; kConflict: Run was called.
    template <class Function>
    Result<void> Handle(std::string type, Function function) {
        return Add(std::move(type), detail::MakeTaskHandler(std::move(function)));
    }

    // Works until Stop, a signal, or a person who drains the worker: then it finishes what it has.
    // Returns an error if the worker cannot start, or if another one has taken over its name. Call
    // it once.
    Result<void> Run();
    // Ends Run. Any thread.
    void Stop();

    std::size_t running() const;         // handlers that run now
    std::uint16_t metrics_port() const;  // 0: not served, or not yet

  private:
    Result<void> Add(std::string type, TaskHandler handler);

    std::unique_ptr<detail::WorkerCore> core_;
};

}  // namespace ksana
