#include "ksana/server/settings/store_url.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/url_secrets.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::server {
namespace {

constexpr std::string_view kForms =
    "sqlite:PATH, json:PATH, memory: or postgresql://USER@HOST/DATABASE";

struct Scheme {
    std::string_view name;
    StoreKind kind;
};

constexpr std::array<Scheme, 5> kSchemes = {{
    {"sqlite", StoreKind::kSqlite},
    {"json", StoreKind::kJson},
    {"memory", StoreKind::kMemory},
    {"postgres", StoreKind::kPostgres},
    {"postgresql", StoreKind::kPostgres},
}};

Error WrongUrl(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

Error UnknownScheme(std::string_view name) {
    std::array<std::string_view, kSchemes.size()> names;
    std::ranges::transform(kSchemes, names.begin(), &Scheme::name);
    const auto meant = Nearest(name, names);
    return WrongUrl(fmt::format("there is no store \"{}\"{}; write {}",
                                Printable(Excerpt(name, 40)),
                                meant ? fmt::format(" (did you mean {}?)", *meant) : "", kForms));
}

// Accepts "sqlite:///var/k.db", the form of other programs. Rejects "sqlite://k.db", which could
// mean a file in the root folder or a host, and probably means neither.
Result<std::string> PathOf(std::string_view scheme, std::string_view path) {
    if (path.starts_with("///")) {
        path.remove_prefix(2);
    } else if (path.starts_with("//")) {
        return WrongUrl(fmt::format("write {}:PATH, without //", scheme));
    }
    if (path.empty()) return WrongUrl(fmt::format("write {}:PATH; the path is missing", scheme));
    if (path.find('\0') != std::string_view::npos)
        return WrongUrl("a path cannot hold a zero byte");
    if (path == ":memory:") return WrongUrl("for a store without a file write memory:");
    if (path.ends_with('/'))
        return WrongUrl(fmt::format("{}:PATH is a file, not a folder", scheme));
    return std::string(path);
}

// Normalizes the path: both "./data" and "data/" give "data/FILE".
std::string InFolder(std::string_view folder, std::string_view file) {
    return (std::filesystem::path(folder) / file).lexically_normal().string();
}

// Removes Ksana's own options, because libpq rejects a URL with unknown options.
Result<StoreUrl> PostgresUrl(std::string_view text) {
    StoreUrl url{StoreKind::kPostgres, std::string(text.substr(0, text.find('?')))};
    std::string_view rest = text.substr(url.location.size());
    char separator = '?';
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::string_view option = rest.substr(0, rest.find('&'));
        rest.remove_prefix(option.size());
        if (option == "ksana_pooler=transaction") {
            url.transaction_pooler = true;
        } else if (option.starts_with("ksana_")) {
            return WrongUrl("the only option of ksana's own is ksana_pooler=transaction");
        } else {
            url.location += separator;
            url.location += option;
            separator = '&';
        }
    }
    return url;
}

}  // namespace

Result<StoreUrl> ParseStoreUrl(std::string_view text, std::string_view data_folder) {
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const auto* const scheme = std::ranges::find(kSchemes, name, &Scheme::name);
    if (scheme == kSchemes.end()) return UnknownScheme(name);
    const bool bare = colon == std::string_view::npos;
    const std::string_view rest = bare ? "" : text.substr(colon + 1);
    switch (scheme->kind) {
        case StoreKind::kMemory:
            if (!rest.empty()) return WrongUrl("nothing can follow memory:");
            return StoreUrl{StoreKind::kMemory, ""};
        case StoreKind::kPostgres:
            if (!rest.starts_with("//")) return WrongUrl(fmt::format("write {}://…", name));
            if (text.find('\0') != std::string_view::npos) {
                return WrongUrl("a URL cannot hold a zero byte");
            }
            return PostgresUrl(text);
        case StoreKind::kSqlite:
            if (bare) return StoreUrl{StoreKind::kSqlite, InFolder(data_folder, "ksana.db")};
            break;
        case StoreKind::kJson:
            if (bare) return StoreUrl{StoreKind::kJson, InFolder(data_folder, "jobs.json")};
            break;
    }
    KSANA_TRY(std::string path, PathOf(name, rest));
    return StoreUrl{scheme->kind, std::move(path)};
}

std::string ShownUrl(const StoreUrl& url) {
    switch (url.kind) {
        case StoreKind::kMemory:
            return "memory:";
        case StoreKind::kPostgres:
            return HideUrlSecrets(url.location);
        case StoreKind::kSqlite:
            return "sqlite:" + Printable(url.location);
        case StoreKind::kJson:
            return "json:" + Printable(url.location);
    }
    return "";
}

}  // namespace ksana::server
