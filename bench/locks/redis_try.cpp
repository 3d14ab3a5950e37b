// Compares a Try of a free lock with a bare SET NX PX on the same server, in turn:
//   ksana_redis_lock_bench URL [ROUNDS]
// Prints the median of each in microseconds, and their ratio; the limit is 1.2.

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/lock_redis/redis_locks.hpp"

namespace {

using ksana::SteadyPoint;

double Median(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// The other client: hiredis as its users write it.
class BareClient {
  public:
    explicit BareClient(const ksana::lock_redis::RedisServer& server)
        : context_(redisConnect(server.host.c_str(), server.port)) {}
    BareClient(const BareClient&) = delete;
    BareClient& operator=(const BareClient&) = delete;
    ~BareClient() { redisFree(context_); }

    bool Set(const std::string& key, const std::string& token) {
        return Run("SET %s %s NX PX 30000", key, token) == REDIS_REPLY_STATUS;
    }
    void Delete(const std::string& key) { Run("DEL %s %s", key, key); }

  private:
    int Run(const char* format, const std::string& first, const std::string& second) {
        void* const made = redisCommand(context_, format, first.c_str(), second.c_str());
        if (made == nullptr) return REDIS_ERR;
        const int type = static_cast<redisReply*>(made)->type;
        freeReplyObject(made);
        return type;
    }

    redisContext* context_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto url = ksana::lock::ParseLockUrl(argc > 1 ? argv[1] : "");
    if (!url || url->kind != ksana::lock::LockKind::kRedis) {
        fmt::print(stderr, "usage: {} redis://HOST:PORT [ROUNDS]\n", argv[0]);
        return 2;
    }
    const ksana::lock_redis::RedisServer& server = url->servers.front();
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 20'000;
    const ksana::SystemClock clock;
    auto driver = ksana::lock_redis::OpenRedisLocks({.servers = {server}, .clock = clock});
    if (!driver) return 2;
    BareClient bare(server);
    const ksana::lock::LockRequest request{
        .key = "bench:lock", .token = "01890a5d-ac96-774b-bcce-b302099a8057", .stamp = {}};
    std::vector<double> bare_us;
    std::vector<double> try_us;
    const auto timed = [&](std::vector<double>& into, const std::function<bool()>& call) {
        const SteadyPoint before = clock.SteadyNow();
        const bool fine = call();
        into.push_back(
            std::chrono::duration<double, std::micro>(clock.SteadyNow() - before).count());
        return fine;
    };
    for (int i = 0; i < rounds; ++i) {
        if (!timed(bare_us, [&] { return bare.Set("bench:bare", request.token); })) return 1;
        bare.Delete("bench:bare");
        std::int64_t fence = 0;
        const bool taken = timed(try_us, [&] {
            const auto answer = (*driver)->Try(request);
            if (answer && answer->grant) fence = answer->grant->fence;
            return fence != 0;
        });
        if (!taken || !(*driver)->Release(request, fence)) return 1;
    }
    const double one = Median(bare_us);
    const double two = Median(try_us);
    fmt::print("bare SET NX PX p50 {:.1f} us, Try p50 {:.1f} us, ratio {:.3f} (limit 1.2)\n", one,
               two, two / one);
    return 0;
}
