#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::lock {

enum class LockKind : std::uint8_t { kStore, kMemory, kRedis, kEtcd, kPostgres, kMariadb };

// One server of Redis, etcd or MariaDB. Texts are decoded; a host of IPv6 has no brackets.
struct LockServer {
    std::string host;
    std::uint16_t port = 0;
    std::string user;
    std::string password;
    int database = 0;  // Redis
    bool tls = false;
    std::string ca_file;  // PEM; empty: the authorities of the system
    friend bool operator==(const LockServer&, const LockServer&) = default;
};

// Which driver keeps the locks, and where.
struct LockUrl {
    LockKind kind = LockKind::kStore;
    // Redis: independent servers. etcd: members of one cluster, with the same user. MariaDB: one.
    std::vector<LockServer> servers;
    std::string database;  // MariaDB
    std::string location;  // PostgreSQL: the URL for libpq, including a password
    friend bool operator==(const LockUrl&, const LockUrl&) = default;
};

// Parses the setting `lock`:
//   store                                          rows of the store
//   memory:                                        locks of this process only
//   redis://[USER:PASSWORD@]HOST[:6379][/NUMBER]   or rediss:// for TLS
//   etcd://[USER:PASSWORD@]HOST[:2379]             or etcds:// for TLS
//   postgresql://…                                 or postgres://, for libpq
//   mariadb://USER[:PASSWORD]@HOST[:3306]/DATABASE or mysql://
// Redis and etcd take several hosts, separated by commas ("redis://u:p@a,b:6380/2"; user, password
// and number are those of all of them), or several URLs, separated by commas. User, password and
// database may be percent-encoded, and must be if they contain one of :@/,?%. "?ca_file=PATH" names
// the authorities for TLS. Fails with kInvalidArgument; no message repeats what could be a
// password.
Result<LockUrl> ParseLockUrl(std::string_view text);

// Returns the URL for messages. A password is shown as "***".
std::string ShownUrl(const LockUrl& url);

}  // namespace ksana::lock
