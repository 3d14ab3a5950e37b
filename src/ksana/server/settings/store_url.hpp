#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::server {

enum class StoreKind : std::uint8_t { kSqlite, kPostgres, kJson, kMemory };

// The kind and the location of a store.
struct StoreUrl {
    StoreKind kind = StoreKind::kSqlite;
    std::string location;  // a path; for PostgreSQL the URL for libpq, including a password
    // PostgreSQL: a pooler may run each transaction on another connection, so the store keeps no
    // session state: no prepared statements, no settings, no LISTEN.
    bool transaction_pooler = false;
    friend bool operator==(const StoreUrl&, const StoreUrl&) = default;
};

inline constexpr std::string_view kDefaultStore = "sqlite";
inline constexpr std::string_view kDefaultDataFolder = "./data";

// Parses "sqlite:PATH", "json:PATH", "memory:", "postgres://…" or "postgresql://…". A bare "sqlite"
// or "json" means ksana.db or jobs.json in the data folder. A PostgreSQL URL may have the option
// "ksana_pooler=transaction", which is not passed to libpq. Fails with kInvalidArgument; the error
// for an unknown scheme lists all forms, and no part of the text that could be a password.
Result<StoreUrl> ParseStoreUrl(std::string_view text,
                               std::string_view data_folder = kDefaultDataFolder);

// Returns the URL for messages and export headers. A password is shown as "***", and unprintable
// bytes are escaped. In a URL with more than one '@', it hides too much rather than too little.
std::string ShownUrl(const StoreUrl& url);

}  // namespace ksana::server
