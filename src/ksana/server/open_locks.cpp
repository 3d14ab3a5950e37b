#include "ksana/server/open_locks.hpp"

#include "ksana/lock/memory_locks.hpp"
#include "ksana/lock_etcd/open_etcd_locks.hpp"
#include "ksana/lock_mariadb/mariadb_locks.hpp"
#include "ksana/lock_postgres/postgres_locks.hpp"
#include "ksana/lock_redis/redis_locks.hpp"

namespace ksana::server {
namespace {

using Opened = Result<std::unique_ptr<lock::LockDriver>>;

Opened OpenEtcd(const lock::LockUrl& url, const Clock& clock) {
    std::vector<lock_etcd::EtcdEndpoint> endpoints;
    for (const lock::LockServer& server : url.servers) {
        endpoints.push_back({.host = server.host, .port = server.port});
    }
    const lock::LockServer& first = url.servers.front();  // all have the same user
    return lock_etcd::OpenEtcdLocks({.endpoints = std::move(endpoints),
                                     .clock = clock,
                                     .tls = first.tls,
                                     .ca_file = first.ca_file,
                                     .user = first.user,
                                     .password = first.password});
}

Opened OpenMariadb(const lock::LockUrl& url, const Clock& clock) {
    const lock::LockServer& server = url.servers.front();
    return lock_mariadb::OpenMariadbLocks({.host = server.host,
                                           .port = server.port,
                                           .user = server.user,
                                           .password = server.password,
                                           .database = url.database,
                                           .clock = clock,
                                           .tls = server.tls,
                                           .ca_file = server.ca_file});
}

}  // namespace

Opened OpenLocks(const lock::LockUrl& url, const Clock& clock) {
    switch (url.kind) {
        case lock::LockKind::kStore:
            return std::unique_ptr<lock::LockDriver>();
        case lock::LockKind::kMemory:
            return std::unique_ptr<lock::LockDriver>(std::make_unique<lock::MemoryLocks>(clock));
        case lock::LockKind::kRedis:
            return lock_redis::OpenRedisLocks({.servers = url.servers, .clock = clock});
        case lock::LockKind::kEtcd:
            return OpenEtcd(url, clock);
        case lock::LockKind::kPostgres:
            return lock_postgres::OpenPostgresLocks({.url = url.location, .clock = clock});
        case lock::LockKind::kMariadb:
            return OpenMariadb(url, clock);
    }
    return Error(Code::kInternal, "unknown kind of lock");
}

}  // namespace ksana::server
