// Load for the task queue over HTTP, like that of ../shared/bench/peers for the rivals. Prints one
// JSON line.
//   ksana_queue_load PORT submit COUNT CONNECTIONS   single submits, each awaited
//   ksana_queue_load PORT traced COUNT CONNECTIONS   the same, each with a trace of its own
//   ksana_queue_load PORT bulk COUNT BATCH           batches over one connection
//   ksana_queue_load PORT drain COUNT BATCH          an agent: reports and claims in one exchange
//   ksana_queue_load PORT produce RATE SECONDS       submits, spread evenly over the time
//   ksana_queue_load PORT wait COUNT BATCH           an agent that waits for tasks of `produce`
// `wait` prints how long the tasks took from their submit to the agent.
#include <fmt/core.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "queue/wire.hpp"

namespace ksana::bench {
namespace {

constexpr int kPatienceMs = 10'000;
using SteadyClock = std::chrono::steady_clock;

double Seconds(SteadyClock::duration time) { return std::chrono::duration<double>(time).count(); }

std::int64_t NowNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               SteadyClock::now().time_since_epoch())
        .count();
}

std::string Task(std::int64_t payload) {
    return fmt::format(R"({{"type":"bench","payload":{{"i":{}}}}})", payload);
}

void Expect(const Wire& wire, int status) {
    if (wire.status() != status) {
        Fail(fmt::format("answered {}: {}", wire.status(), wire.body().substr(0, 400)));
    }
}

void Rate(std::int64_t count, double seconds) {
    fmt::print("{{\"per_second\": {:.1f}, \"count\": {}}}\n", static_cast<double>(count) / seconds,
               count);
}

std::string TraceHeader(std::int64_t number) {
    return fmt::format("traceparent: 00-{:032x}-{:016x}-01\r\n", number + 1, number + 1);
}

// Uses all connections on this thread; each has one submit in flight.
void Submit(int port, std::int64_t count, std::int64_t connections, bool traced) {
    const int poll = ::epoll_create1(EPOLL_CLOEXEC);
    std::vector<std::unique_ptr<Wire>> wires;
    for (std::int64_t i = 0; i < connections; ++i) {
        wires.push_back(std::make_unique<Wire>(port));
        epoll_event event{.events = EPOLLIN, .data = {.ptr = wires.back().get()}};
        ::epoll_ctl(poll, EPOLL_CTL_ADD, wires.back()->fd(), &event);
    }
    std::int64_t sent = 0;
    std::int64_t answered = 0;
    const auto post = [&](Wire& wire) {
        wire.Post("/api/v1/runs", Task(sent), traced ? TraceHeader(sent) : "");
        ++sent;
    };
    const auto start = SteadyClock::now();
    for (auto& wire : wires) post(*wire);
    std::array<epoll_event, 64> events;
    while (answered < sent) {
        const int ready =
            ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), kPatienceMs);
        if (ready <= 0) Fail("no answer within ten seconds");
        for (int i = 0; i < ready; ++i) {
            auto& wire = *static_cast<Wire*>(events.at(static_cast<std::size_t>(i)).data.ptr);
            if (!wire.Receive()) continue;
            Expect(wire, 201);
            ++answered;
            if (sent < count) post(wire);
        }
    }
    Rate(answered, Seconds(SteadyClock::now() - start));
    ::close(poll);
}

void Bulk(int port, std::int64_t count, std::int64_t batch) {
    Wire wire(port);
    const auto start = SteadyClock::now();
    for (std::int64_t sent = 0; sent < count;) {
        std::string body = R"({"runs":[)";
        for (std::int64_t i = 0; i < batch && sent < count; ++i, ++sent) {
            if (i > 0) body += ',';
            body += Task(sent);
        }
        body += "]}";
        wire.Post("/api/v1/runs/batch", body);
        wire.Await();
        Expect(wire, 200);
    }
    Rate(count, Seconds(SteadyClock::now() - start));
}

// Returns the value of the next member of this name after `at`, and moves `at` behind it.
std::string_view NextValue(std::string_view text, std::string_view name, std::size_t& at) {
    at = text.find(name, at);
    if (at == std::string_view::npos) return {};
    const std::size_t begin = at + name.size();
    at = text.find('"', begin);
    return text.substr(begin, at - begin);
}

// Returns success reports for all runs in an answer of claim or exchange.
std::string ReportsOf(std::string_view answer, std::int64_t& count) {
    std::string reports;
    std::size_t at = answer.find("\"runs\":[");
    count = 0;
    while (at != std::string_view::npos) {
        const std::string_view id = NextValue(answer, "\"run_id\":\"", at);
        if (at == std::string_view::npos) break;
        const std::string_view exec = NextValue(answer, "\"exec_id\":\"", at);
        if (count++ > 0) reports += ',';
        fmt::format_to(std::back_inserter(reports),
                       R"({{"run_id":"{}","exec_id":"{}","outcome":"succeeded"}})", id, exec);
    }
    return reports;
}

// Works until `count` runs are done or none is left. Prints when the first and the last came, by a
// clock that all processes share.
void Drain(int port, std::int64_t count, std::int64_t batch) {
    Wire wire(port);
    const std::string claim = fmt::format(R"("claim":{{"types":["bench"],"max":{}}})", batch);
    std::string reports;
    std::int64_t done = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    while (true) {
        wire.Post("/api/v1/agent/exchange",
                  fmt::format(R"({{"worker":"agent-{}","reports":[{}]{}{}}})", ::getpid(), reports,
                              done < count ? "," : "", done < count ? claim : ""));
        wire.Await();
        Expect(wire, 200);
        std::int64_t found = 0;
        reports = ReportsOf(wire.body(), found);
        if (found == 0) break;
        if (first == 0) first = NowNs();
        last = NowNs();
        done += found;
    }
    fmt::print("{{\"count\": {}, \"first_ns\": {}, \"last_ns\": {}}}\n", done, first, last);
}

// Adds the milliseconds since the submit of each task in this answer.
void NoteTimes(std::string_view answer, std::vector<double>& times) {
    constexpr std::string_view kSent = "\"i\":";
    const std::int64_t now = NowNs();
    for (std::size_t at = answer.find(kSent); at != std::string_view::npos;
         at = answer.find(kSent, at + 1)) {
        const std::int64_t sent = std::strtoll(answer.data() + at + kSent.size(), nullptr, 10);
        times.push_back(static_cast<double>(now - sent) / 1e6);
    }
}

void Wait(int port, std::size_t count, std::int64_t batch) {
    Wire wire(port);
    std::vector<double> times;
    std::string reports;
    while (true) {
        const bool enough = times.size() >= count;
        const std::string claim =
            fmt::format(R"(,"claim":{{"types":["bench"],"max":{},"wait":"20s"}})", batch);
        wire.Post("/api/v1/agent/exchange", fmt::format(R"({{"worker":"waits","reports":[{}]{}}})",
                                                        reports, enough ? "" : claim));
        wire.Await();
        Expect(wire, 200);
        if (enough) break;
        NoteTimes(wire.body(), times);
        std::int64_t found = 0;
        reports = ReportsOf(wire.body(), found);
        if (found == 0) Fail(fmt::format("{} of {} came", times.size(), count));
    }
    std::sort(times.begin(), times.end());
    fmt::print("{{\"p50_ms\": {:.3f}, \"p99_ms\": {:.3f}, \"max_ms\": {:.3f}, \"count\": {}}}\n",
               times[times.size() / 2], times[times.size() * 99 / 100], times.back(), times.size());
}

void Produce(int port, std::int64_t rate, std::int64_t seconds) {
    Wire wire(port);
    SystemClock clock;
    Wakeup never;
    const SteadyPoint start = clock.SteadyNow() + std::chrono::milliseconds(200);
    for (std::int64_t i = 0; i < rate * seconds; ++i) {
        clock.Wait(never, start + std::chrono::microseconds(i * 1'000'000 / rate), {});
        wire.Post("/api/v1/runs", Task(NowNs()));
        wire.Await();
        Expect(wire, 201);
    }
    Rate(rate * seconds, Seconds(clock.SteadyNow() - start));
}

int Main(const std::vector<std::string>& words) {
    if (words.size() != 5) {
        fmt::print(stderr,
                   "usage: ksana_queue_load PORT submit|traced|bulk|drain|produce|wait N M\n");
        return 2;
    }
    const int port = std::atoi(words[1].c_str());
    const std::int64_t n = std::atoll(words[3].c_str());
    const std::int64_t m = std::atoll(words[4].c_str());
    if (words[2] == "submit" || words[2] == "traced") {
        Submit(port, n, m, words[2] == "traced");
    } else if (words[2] == "bulk") {
        Bulk(port, n, m);
    } else if (words[2] == "drain") {
        Drain(port, n, m);
    } else if (words[2] == "produce") {
        Produce(port, n, m);
    } else if (words[2] == "wait") {
        Wait(port, static_cast<std::size_t>(n), m);
    } else {
        Fail("unknown: " + words[2]);
    }
    return 0;
}

}  // namespace
}  // namespace ksana::bench

int main(int argc, char** argv) { return ksana::bench::Main({argv, argv + argc}); }
