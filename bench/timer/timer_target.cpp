// A target that records how late every call is: the system clock in the handler minus the nominal
// time in the call's header. Prints its port; ends when its standard input is closed.
//   ksana_timer_target
//   GET /count    {"count", "first_us"}: calls since the last reset, and the time of the first
//   GET /stats    counts and lateness in milliseconds; ?from_us=&to_us= restricts nominal times to
//                 [from, to). Blocks all other requests: ask when the calls are over
//   POST /reset   forgets the calls
//   anything else under /call is a call
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/http_server/server.hpp"

namespace ksana::bench {
namespace {

using http_server::JsonResponse;
using http_server::NoContent;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using http_server::Route;
using http_server::Where;

constexpr std::size_t kRoom = 4'000'000;

std::int64_t Micros(TimePoint instant) { return instant.time_since_epoch().count(); }

struct Call {
    std::uint64_t job;
    std::int64_t nominal;   // microseconds since the epoch
    std::int64_t lateness;  // microseconds
};

std::uint64_t HashOf(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char letter : text) {
        hash ^= static_cast<unsigned char>(letter);
        hash *= 0x100000001b3;
    }
    return hash;
}

std::int64_t QueryNumber(const Request& request, std::string_view name, std::int64_t otherwise) {
    const auto text = request.QueryValue(name);
    std::int64_t number = otherwise;
    if (text) std::from_chars(text->data(), text->data() + text->size(), number);
    return number;
}

// The recorded calls. All handlers run on one I/O thread, so it needs no lock.
class Record {
  public:
    Record() { calls_.reserve(kRoom); }

    Response Take(const Request& request) {
        const TimePoint now = clock_.Now();
        if (count_++ == 0) first_ = Micros(now);
        const auto nominal = request.headers.Find("Ksana-Scheduled-At");
        const auto job = request.headers.Find("Ksana-Job-Id");
        const auto time = nominal ? ParseTime(*nominal) : Result<TimePoint>(now);
        if (!nominal || !job || !time) {
            ++strange_;
        } else {
            calls_.push_back({HashOf(*job), Micros(*time), Micros(now) - Micros(*time)});
        }
        return NoContent();
    }

    Response Count() const {
        return JsonResponse(200, fmt::format(R"({{"count": {}, "first_us": {}}})", count_, first_));
    }

    Response Stats(std::int64_t from, std::int64_t to) const {
        std::vector<Call> kept;
        kept.reserve(calls_.size());
        std::copy_if(calls_.begin(), calls_.end(), std::back_inserter(kept),
                     [&](const Call& call) { return call.nominal >= from && call.nominal < to; });
        const auto by_fire = [](const Call& a, const Call& b) {
            return a.nominal != b.nominal ? a.nominal < b.nominal : a.job < b.job;
        };
        const auto same_fire = [](const Call& a, const Call& b) {
            return a.nominal == b.nominal && a.job == b.job;
        };
        std::vector<std::int64_t> late;
        late.reserve(kept.size());
        for (const Call& call : kept) late.push_back(call.lateness);
        std::sort(late.begin(), late.end());
        std::sort(kept.begin(), kept.end(), by_fire);
        kept.erase(std::unique(kept.begin(), kept.end(), same_fire), kept.end());
        const auto at = [&](double share) {
            if (late.empty()) return 0.0;
            const auto place = static_cast<std::size_t>(share * static_cast<double>(late.size()));
            return static_cast<double>(late[std::min(place, late.size() - 1)]) / 1000;
        };
        return JsonResponse(
            200, fmt::format(R"({{"count": {}, "distinct": {}, "strange": {}, "min": {:.3f}, )"
                             R"("p50": {:.3f}, "p99": {:.3f}, "max": {:.3f}}})",
                             late.size(), kept.size(), strange_, at(0), at(0.5), at(0.99), at(1)));
    }

    Response Reset() {
        calls_.clear();
        count_ = strange_ = first_ = 0;
        return NoContent();
    }

  private:
    SystemClock clock_;
    std::vector<Call> calls_;
    std::int64_t count_ = 0;
    std::int64_t strange_ = 0;  // calls without a job or a nominal time
    std::int64_t first_ = 0;
};

void AddRoutes(http_server::Router& router, Record& record) {
    const auto add = [&](HttpMethod method, const char* path, const char* words,
                         http_server::Handler handler) {
        router.Add(
            Route(method, path, Permission::kPublic, words, Where::kInline, std::move(handler)));
    };
    for (const HttpMethod method : {HttpMethod::kGet, HttpMethod::kPost}) {
        add(method, "/call", "a call of a job",
            [&record](const Request& request) { return record.Take(request); });
    }
    add(HttpMethod::kGet, "/count", "how many calls came",
        [&record](const Request&) { return record.Count(); });
    add(HttpMethod::kGet, "/stats", "how late they came", [&record](const Request& request) {
        return record.Stats(
            QueryNumber(request, "from_us", 0),
            QueryNumber(request, "to_us", std::numeric_limits<std::int64_t>::max()));
    });
    add(HttpMethod::kPost, "/reset", "forgets the calls",
        [&record](const Request&) { return record.Reset(); });
}

int Run() {
    LogOptions log;
    log.level = LogLevel::kWarn;
    if (!ConfigureLog(log)) return 1;
    Record record;
    http_server::Router router;
    AddRoutes(router, record);
    SystemClock clock;
    SystemRandom random;
    http_server::ServerOptions options;
    options.max_connections_per_address = options.max_connections;
    options.idle_timeout = std::chrono::minutes(10);
    options.drain = std::chrono::milliseconds(100);
    http_server::Server server(std::move(options), std::move(router), clock, random);
    if (const auto started = server.Start(); !started) {
        fmt::print(stderr, "timer_target: {}\n", started.error().message);
        return 1;
    }
    fmt::print("{}\n", server.port());
    std::fflush(stdout);
    char sink = 0;
    while (::read(STDIN_FILENO, &sink, 1) > 0) continue;
    server.Stop();
    return 0;
}

}  // namespace
}  // namespace ksana::bench

int main() { return ksana::bench::Run(); }
