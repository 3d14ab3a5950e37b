#include "ksana/lock/lock_url.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/url_secrets.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::lock {
namespace {

constexpr std::string_view kForms =
    "store, memory:, redis://HOST, rediss://HOST, etcd://HOST, etcds://HOST, "
    "postgresql://USER@HOST/DATABASE or mariadb://USER@HOST/DATABASE";
constexpr int kMostDatabases = 65'536;

struct Scheme {
    std::string_view name;
    LockKind kind;
    std::uint16_t port = 0;
    bool tls = false;
};

constexpr std::array<Scheme, 10> kSchemes = {{
    {"store", LockKind::kStore},
    {"memory", LockKind::kMemory},
    {"redis", LockKind::kRedis, 6379},
    {"rediss", LockKind::kRedis, 6379, true},
    {"etcd", LockKind::kEtcd, 2379},
    {"etcds", LockKind::kEtcd, 2379, true},
    {"postgresql", LockKind::kPostgres},
    {"postgres", LockKind::kPostgres},
    {"mariadb", LockKind::kMariadb, 3306},
    {"mysql", LockKind::kMariadb, 3306},
}};

Error Wrong(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

const Scheme* SchemeOf(std::string_view name) {
    const auto* const found = std::ranges::find(kSchemes, name, &Scheme::name);
    return found == kSchemes.end() ? nullptr : found;
}

bool IsNameOfScheme(std::string_view text) {
    return text.size() <= 20 && std::ranges::all_of(text, [](char c) {
               return (Lower(c) >= 'a' && Lower(c) <= 'z') || c == '+' || c == '-';
           });
}

// The name is shown only if it looks like one: without a colon it may be anything.
Error UnknownScheme(std::string_view name, bool bare) {
    std::array<std::string_view, kSchemes.size()> names;
    std::ranges::transform(kSchemes, names.begin(), &Scheme::name);
    const auto meant = Nearest(name, names);
    const bool show = !name.empty() && !bare && IsNameOfScheme(name);
    return Wrong(fmt::format("there is no lock server {}{}; write {}",
                             show ? fmt::format("\"{}\"", name) : "of that kind",
                             meant ? fmt::format(" (did you mean {}?)", *meant) : "", kForms));
}

// Returns nothing for a % without two hex digits and for a zero byte.
std::optional<std::string> Decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        const std::string_view digits = text.substr(i + 1, 2);
        unsigned int byte = 0;
        const auto [end, fault] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() < 2 || fault != std::errc() || end != digits.data() + 2) return {};
        plain += static_cast<char>(byte);
        i += 2;
    }
    if (plain.find('\0') != std::string::npos) return {};
    return plain;
}

std::optional<int> NumberOf(std::string_view text, int most) {
    int number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size() || number < 0 || number > most) {
        return {};
    }
    return number;
}

// A URL in its parts: "//USER:PASSWORD@HOSTS/PATH?OPTION".
struct Parts {
    std::string_view user;
    std::optional<std::string_view> password;
    std::string_view hosts;
    std::string_view path;  // without the slash
    std::string_view option;
};

Result<Parts> Split(const Scheme& scheme, std::string_view rest) {
    if (!rest.starts_with("//")) return Wrong(fmt::format("write {}://HOST", scheme.name));
    rest.remove_prefix(2);
    Parts parts;
    if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
        parts.option = rest.substr(mark + 1);
        rest = rest.substr(0, mark);
        if (parts.option.find('@') != std::string_view::npos) {
            return Wrong("write ? as %3F and @ as %40 in a user name and a password");
        }
    }
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
        const std::string_view user = rest.substr(0, at);
        if (user.find_first_of("@/,") != std::string_view::npos) {
            return Wrong("write @ / , as %40 %2F %2C in a user name and a password");
        }
        const std::size_t colon = user.find(':');
        parts.user = user.substr(0, colon);
        if (colon != std::string_view::npos) parts.password = user.substr(colon + 1);
        rest = rest.substr(at + 1);
    }
    const std::size_t slash = rest.find('/');
    parts.hosts = rest.substr(0, slash);
    if (slash != std::string_view::npos) parts.path = rest.substr(slash + 1);
    return parts;
}

// Reads "HOST", "HOST:PORT" or "[IPV6]:PORT" into `server`.
Result<void> ReadHost(std::string_view text, LockServer& server) {
    const bool bracket = text.starts_with('[');
    const std::size_t end = bracket ? text.find(']') : std::min(text.find(':'), text.size());
    if (end == std::string_view::npos) return Wrong("a ] is missing after the host");
    server.host = bracket ? text.substr(1, end - 1) : text.substr(0, end);
    if (server.host.empty()) return Wrong("a host is missing (IPv6 stands in [ ])");
    const std::string_view allowed =
        bracket ? "0123456789abcdefABCDEF:."
                : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._";
    if (server.host.find_first_not_of(allowed) != std::string::npos) {
        return Wrong("a host has letters, digits, dots and hyphens only; IPv6 stands in [ ]");
    }
    std::string_view port = text.substr(end + (bracket ? 1 : 0));
    if (port.empty()) return {};
    const auto number = port.starts_with(':') ? NumberOf(port.substr(1), 65'535) : std::nullopt;
    if (number.value_or(0) == 0) return Wrong("a port is a number from 1 to 65535");
    server.port = static_cast<std::uint16_t>(*number);
    return {};
}

// Reads what all hosts of a URL have in common.
Result<LockServer> ReadCommon(const Scheme& scheme, const Parts& parts) {
    LockServer server{.host = {}, .port = scheme.port, .tls = scheme.tls};
    auto user = Decoded(parts.user);
    auto password = Decoded(parts.password.value_or(""));
    if (!user || !password) return Wrong("the user name or the password has a wrong % in it");
    server.user = *std::move(user);
    server.password = *std::move(password);
    if (parts.option.empty()) return server;
    constexpr std::string_view kCaFile = "ca_file=";
    if (!parts.option.starts_with(kCaFile) || parts.option.size() == kCaFile.size()) {
        return Wrong("the only option of a lock server is ?ca_file=PATH");
    }
    if (!scheme.tls) {
        return Wrong(fmt::format("ca_file needs TLS, and {}:// has none", scheme.name));
    }
    auto file = Decoded(parts.option.substr(kCaFile.size()));
    if (!file) return Wrong("the path of ca_file has a wrong % in it");
    server.ca_file = *std::move(file);
    return server;
}

Result<void> AddServers(const Scheme& scheme, std::string_view rest, LockUrl& url) {
    KSANA_TRY(const Parts parts, Split(scheme, rest));
    KSANA_TRY(LockServer server, ReadCommon(scheme, parts));
    if (scheme.kind == LockKind::kMariadb) {
        auto database = Decoded(parts.path);
        if (server.user.empty() || !database || database->empty() ||
            parts.path.find('/') != std::string_view::npos) {
            return Wrong(
                fmt::format("write {}://USER:PASSWORD@HOST/DATABASE; the user and the database "
                            "must be named",
                            scheme.name));
        }
        if (parts.hosts.find(',') != std::string_view::npos) {
            return Wrong("MariaDB takes one host");
        }
        url.database = *std::move(database);
    } else if (!parts.path.empty()) {
        const auto number = NumberOf(parts.path, kMostDatabases - 1);
        if (scheme.kind != LockKind::kRedis || !number) {
            return Wrong(scheme.kind == LockKind::kRedis
                             ? "the database of Redis is a number, as in redis://HOST/2"
                             : "nothing can follow the hosts of etcd");
        }
        server.database = *number;
    }
    std::string_view hosts = parts.hosts;
    for (;;) {
        const std::size_t comma = hosts.find(',');
        LockServer one = server;
        KSANA_TRY_VOID(ReadHost(hosts.substr(0, comma), one));
        const auto same = [&](const LockServer& other) {
            return other.host == one.host && other.port == one.port;
        };
        if (std::ranges::any_of(url.servers, same)) return Wrong("a host is named twice");
        url.servers.push_back(std::move(one));
        if (comma == std::string_view::npos) return {};
        hosts.remove_prefix(comma + 1);
    }
}

// Returns where the first of several URLs ends: at a comma before the name of a scheme.
std::size_t EndOfUrl(std::string_view text) {
    for (std::size_t comma = text.find(','); comma != std::string_view::npos;
         comma = text.find(',', comma + 1)) {
        const std::string_view next = text.substr(comma + 1);
        const std::size_t mark = next.find("://");
        if (mark != std::string_view::npos && IsNameOfScheme(next.substr(0, mark))) return comma;
    }
    return text.size();
}

Result<LockUrl> ServersUrl(const Scheme& first, std::string_view text) {
    LockUrl url{.kind = first.kind, .servers = {}, .database = {}, .location = {}};
    const Scheme* scheme = &first;
    for (;;) {
        const std::size_t end = EndOfUrl(text);
        const std::string_view one = text.substr(0, end);
        KSANA_TRY_VOID(AddServers(*scheme, one.substr(scheme->name.size() + 1), url));
        if (end == text.size()) break;
        text.remove_prefix(end + 1);
        const std::string_view name = text.substr(0, text.find(':'));
        scheme = SchemeOf(name);
        if (scheme == nullptr) return UnknownScheme(name, true);  // may be part of a password
        if (scheme->kind != first.kind) return Wrong("all lock servers must be of one kind");
        if (first.kind == LockKind::kMariadb) return Wrong("MariaDB takes one host");
    }
    const LockServer& one = url.servers.front();
    const auto differs = [&](const LockServer& other) {
        return other.user != one.user || other.password != one.password || other.tls != one.tls ||
               other.ca_file != one.ca_file;
    };
    if (first.kind == LockKind::kEtcd && std::ranges::any_of(url.servers, differs)) {
        return Wrong("the members of an etcd cluster have the same user, password and TLS");
    }
    return url;
}

std::string_view ShownScheme(LockKind kind, bool tls) {
    switch (kind) {
        case LockKind::kRedis:
            return tls ? "rediss" : "redis";
        case LockKind::kEtcd:
            return tls ? "etcds" : "etcd";
        default:
            return "mariadb";
    }
}

std::string ShownServer(const LockUrl& url, const LockServer& server) {
    std::string shown = fmt::format("{}://", ShownScheme(url.kind, server.tls));
    if (!server.user.empty() || !server.password.empty()) {
        shown += PercentEncode(server.user) + (server.password.empty() ? "@" : ":***@");
    }
    const bool ipv6 = server.host.find(':') != std::string::npos;
    shown += fmt::format(fmt::runtime(ipv6 ? "[{}]:{}" : "{}:{}"), server.host, server.port);
    if (server.database != 0) shown += fmt::format("/{}", server.database);
    if (!url.database.empty()) shown += "/" + PercentEncode(url.database);
    return shown;
}

}  // namespace

Result<LockUrl> ParseLockUrl(std::string_view text) {
    const std::size_t colon = text.find(':');
    const bool bare = colon == std::string_view::npos;
    const std::string_view name = text.substr(0, colon);
    const Scheme* const scheme = SchemeOf(name);
    if (scheme == nullptr) return UnknownScheme(name, bare);
    if (text.find('\0') != std::string_view::npos) return Wrong("a URL cannot hold a zero byte");
    const std::string_view rest = bare ? "" : text.substr(colon + 1);
    switch (scheme->kind) {
        case LockKind::kStore:
        case LockKind::kMemory:
            if (!rest.empty()) return Wrong(fmt::format("nothing can follow {}", name));
            return LockUrl{.kind = scheme->kind, .servers = {}, .database = {}, .location = {}};
        case LockKind::kPostgres:
            if (!rest.starts_with("//")) return Wrong(fmt::format("write {}://…", name));
            return LockUrl{.kind = LockKind::kPostgres,
                           .servers = {},
                           .database = {},
                           .location = std::string(text)};
        default:
            if (bare) return Wrong(fmt::format("write {}://HOST", name));
            return ServersUrl(*scheme, text);
    }
}

std::string ShownUrl(const LockUrl& url) {
    switch (url.kind) {
        case LockKind::kStore:
            return "store";
        case LockKind::kMemory:
            return "memory:";
        case LockKind::kPostgres:
            return HideUrlSecrets(url.location);
        default:
            break;
    }
    std::string shown;
    for (const LockServer& server : url.servers) {
        shown += (shown.empty() ? "" : ",") + ShownServer(url, server);
    }
    return shown;
}

}  // namespace ksana::lock
