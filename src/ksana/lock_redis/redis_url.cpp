#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "ksana/lock_redis/redis_locks.hpp"

namespace ksana::lock_redis {
namespace {

Error BadUrl(std::string_view why) {
    return {Code::kInvalidArgument, fmt::format("the URL of the Redis server {}", why)};
}

// Removes and returns what stands before the first `mark`; nullopt if there is no mark.
std::optional<std::string_view> CutBefore(std::string_view& text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view before = text.substr(0, at);
    text.remove_prefix(at + mark.size());
    return before;
}

template <class Number>
bool ReadNumber(std::string_view text, Number& number) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

Result<std::string> DecodePercent(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const std::string_view digits = text.substr(i + 1, 2);
        int byte = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || read.ec != std::errc() || read.ptr != digits.data() + 2 ||
            digits[0] == '-') {
            return BadUrl("has a % without two hexadecimal digits");
        }
        out += static_cast<char>(byte);
        i += 2;
    }
    return out;
}

Result<void> ReadHost(std::string_view text, RedisServer& server) {
    if (text.starts_with('[')) {  // [::1]:6379
        text.remove_prefix(1);
        const auto address = CutBefore(text, "]");
        if (!address) return BadUrl("has a [ without a ]");
        server.host = *address;
        if (!text.empty() && !text.starts_with(':')) return BadUrl("has text after the ]");
        if (!text.empty())
            text.remove_prefix(1);
        else
            return {};
    } else if (const auto host = CutBefore(text, ":")) {
        server.host = *host;
    } else {
        server.host = text;
        text = {};
        if (server.host.empty()) return BadUrl("has no host");
        return {};
    }
    if (server.host.empty()) return BadUrl("has no host");
    if (!ReadNumber(text, server.port) || server.port == 0) return BadUrl("has no valid port");
    return {};
}

Result<void> ReadUser(std::string_view text, RedisServer& server) {
    const auto user = CutBefore(text, ":");
    if (!user) return BadUrl("has a user without a password");
    KSANA_TRY(server.user, DecodePercent(*user));
    KSANA_TRY(server.password, DecodePercent(text));
    if (server.password.empty()) return BadUrl("has a user without a password");
    return {};
}

}  // namespace

Result<RedisServer> ParseRedisUrl(std::string_view url) {
    RedisServer server;
    const auto scheme = CutBefore(url, "://");
    if (scheme != "redis" && scheme != "rediss") {
        return BadUrl("must begin with redis:// or rediss://");
    }
    server.tls = scheme == "rediss";
    std::string_view query;
    if (const std::size_t mark = url.find('?'); mark != std::string_view::npos) {
        query = url.substr(mark + 1);
        url = url.substr(0, mark);
    }
    if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
        KSANA_TRY_VOID(ReadUser(url.substr(0, at), server));
        url.remove_prefix(at + 1);
    }
    if (const std::size_t slash = url.find('/'); slash != std::string_view::npos) {
        const std::string_view database = url.substr(slash + 1);
        if (!database.empty() && (!ReadNumber(database, server.database) || server.database < 0)) {
            return BadUrl("has no valid number of a database");
        }
        url = url.substr(0, slash);
    }
    KSANA_TRY_VOID(ReadHost(url, server));
    if (query.empty()) return server;
    if (!query.starts_with("ca_file=")) return BadUrl("has an unknown option; there is ca_file");
    if (!server.tls) return BadUrl("has a ca_file, which is for rediss:// only");
    KSANA_TRY(server.ca_file, DecodePercent(query.substr(query.find('=') + 1)));
    return server;
}

std::string RedisServer::Name() const {
    std::string name = tls ? "rediss://" : "redis://";
    name += host.find(':') == std::string::npos ? host : "[" + host + "]";
    name += fmt::format(":{}", port);
    if (database != 0) name += fmt::format("/{}", database);
    return name;
}

}  // namespace ksana::lock_redis
