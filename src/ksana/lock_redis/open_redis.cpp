#include <fmt/format.h>

#include "ksana/lock_redis/redis_driver.hpp"
#include "ksana/lock_redis/redis_locks.hpp"
#include "ksana/lock_redis/wire/tls.hpp"

namespace ksana::lock_redis {
namespace {

Result<void> CheckOptions(const RedisLockOptions& options) {
    if (options.servers.empty()) {
        return Error(Code::kInvalidArgument, "the locks on Redis need a server");
    }
    if (options.timeout <= Duration::zero()) {
        return Error(Code::kInvalidArgument, "the timeout of a Redis server must be positive");
    }
    for (std::size_t i = 0; i < options.servers.size(); ++i) {
        const RedisServer& server = options.servers[i];
        for (std::size_t j = 0; j < i; ++j) {
            // Two databases of one server are lost together: they are no two votes.
            const RedisServer& other = options.servers[j];
            if (server.host != other.host || server.port != other.port) continue;
            return Error(Code::kInvalidArgument,
                         fmt::format("the Redis server {} is named twice", NameOf(server)));
        }
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<lock::LockDriver>> OpenRedisLocks(RedisLockOptions options) {
    KSANA_TRY_VOID(CheckOptions(options));
    KSANA_TRY_VOID(LoadHiredis());
    std::vector<std::unique_ptr<RedisNode>> nodes;
    for (RedisServer& server : options.servers) {
        std::shared_ptr<const TlsContext> tls;
        if (server.tls) {
            KSANA_TRY(tls, TlsContext::Make(server.ca_file));
        }
        nodes.push_back(
            std::make_unique<RedisNode>(std::move(server), std::move(tls), options.clock));
    }
    return std::unique_ptr<lock::LockDriver>(
        std::make_unique<RedisDriver>(std::move(nodes), options.clock, options.timeout));
}

std::string NameOf(const RedisServer& server) {
    const bool is_v6 = server.host.find(':') != std::string::npos;
    std::string name = fmt::format("{}://{}{}{}:{}", server.tls ? "rediss" : "redis",
                                   is_v6 ? "[" : "", server.host, is_v6 ? "]" : "", server.port);
    if (server.database != 0) name += fmt::format("/{}", server.database);
    return name;
}

}  // namespace ksana::lock_redis
