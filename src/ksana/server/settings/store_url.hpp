#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::server {

enum class StoreKind : std::uint8_t { kSqlite, kPostgres, kJson, kMemory };

// Which store, and where it is.
struct StoreUrl {
    StoreKind kind = StoreKind::kSqlite;
    std::string location;  // a path; of PostgreSQL the URL for libpq, password included
    // PostgreSQL: a pooler stands between that gives each transaction another connection. Nothing
    // is kept in a session then: no prepared statements, no settings, no LISTEN.
    bool transaction_pooler = false;
    friend bool operator==(const StoreUrl&, const StoreUrl&) = default;
};

inline constexpr std::string_view kDefaultStore = "sqlite";
inline constexpr std::string_view kDefaultDataFolder = "./data";

// "sqlite:PATH", "json:PATH", "memory:", "postgres://…" or "postgresql://…". A bare "sqlite" or
// "json" is ksana.db or jobs.json in the data folder. A PostgreSQL URL may hold
// "ksana_pooler=transaction" among its options, which libpq does not get to see. The error of an
// unknown scheme shows all of these, and no part of the text that could be a password.
Result<StoreUrl> ParseStoreUrl(std::string_view text,
                               std::string_view data_folder = kDefaultDataFolder);

// For messages and headers: a password is "***", and bytes that do not print are escaped. Of a URL
// that holds more than one '@' too much is hidden rather than too little.
std::string ShownUrl(const StoreUrl& url);

}  // namespace ksana::server
