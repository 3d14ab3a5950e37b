#include "ksana/broker/broker_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::broker {
namespace {

constexpr std::uint16_t kTlsPort = 5671;

Error Wrong(std::string_view why) {
    return {Code::kInvalidArgument, fmt::format("the URL of the broker: {}", why)};
}

bool IsDigits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// `part` names the text in the error.
Result<std::string> Decode(std::string_view text, std::string_view part) {
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
        if (digits.size() < 2 || fault != std::errc() || end != digits.data() + 2) {
            return Wrong(fmt::format("{} has a % without two hex digits", part));
        }
        plain += static_cast<char>(byte);
        i += 2;
    }
    // The protocol's short texts end at 255 bytes, and C strings at a zero byte.
    if (plain.find('\0') != std::string::npos) {
        return Wrong(fmt::format("{} has a zero byte", part));
    }
    if (plain.size() > 255) return Wrong(fmt::format("{} is longer than 255 bytes", part));
    return plain;
}

Result<void> ReadUser(std::string_view text, BrokerUrl& url) {
    if (text.find_first_of("@/") != std::string_view::npos) {
        return Wrong("write @ / ? as %40 %2F %3F in the user name and the password");
    }
    const std::size_t colon = text.find(':');
    KSANA_TRY(url.user, Decode(text.substr(0, colon), "the user name"));
    if (url.user.empty()) return Wrong("the user name is missing before the @");
    url.password.clear();
    if (colon == std::string_view::npos) return {};
    KSANA_TRY(url.password, Decode(text.substr(colon + 1), "the password"));
    return {};
}

// Reads "HOST", "HOST:PORT", "[IPV6]" or "[IPV6]:PORT".
Result<void> ReadHost(std::string_view text, BrokerUrl& url) {
    const bool bracket = text.starts_with('[');
    const std::size_t end = bracket ? text.find(']') : std::min(text.find(':'), text.size());
    if (end == std::string_view::npos) return Wrong("the host has no ] after its [");
    url.host = bracket ? text.substr(1, end - 1) : text.substr(0, end);
    if (url.host.empty()) return Wrong("the host is missing (IPv6 stands in [ ])");
    const std::string_view allowed =
        bracket ? "0123456789abcdefABCDEF:."
                : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._";
    if (url.host.find_first_not_of(allowed) != std::string::npos) {
        return Wrong("the host has letters, digits, dots and hyphens only; IPv6 stands in [ ]");
    }
    const std::string_view port = text.substr(end + (bracket ? 1 : 0));
    if (port.empty()) return {};
    const std::string_view digits = port.substr(1);
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (port.front() != ':' || !IsDigits(digits) || number < 1 || number > 65'535) {
        return Wrong("the port is a number from 1 to 65535");
    }
    url.port = static_cast<std::uint16_t>(number);
    return {};
}

Result<void> ReadHeartbeat(const std::string& text, BrokerUrl& url) {
    const auto heartbeat = ParseDuration(IsDigits(text) ? text + "s" : text);
    if (!heartbeat || *heartbeat < std::chrono::seconds(1) || *heartbeat > std::chrono::hours(1) ||
        *heartbeat % std::chrono::seconds(1) != Duration::zero()) {
        return Wrong("heartbeat is a whole number of seconds from 1s to 1h, as in heartbeat=10s");
    }
    url.heartbeat = *heartbeat;
    return {};
}

Result<void> ReadOption(std::string_view text, BrokerUrl& url) {
    constexpr std::array<std::string_view, 5> kNames = {"heartbeat", "ca_file", "cert_file",
                                                        "key_file", "server_name"};
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (std::ranges::find(kNames, name) == kNames.end()) {
        const auto meant = Nearest(name, kNames);
        return Wrong(fmt::format("there is no such option{}; there are {}",
                                 meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                                 fmt::join(kNames, ", ")));
    }
    KSANA_TRY(std::string value,
              Decode(equals == std::string_view::npos ? "" : text.substr(equals + 1), name));
    if (value.empty()) return Wrong(fmt::format("{} has no value", name));
    if (name == "heartbeat") return ReadHeartbeat(value, url);
    if (!url.tls) return Wrong(fmt::format("{} needs TLS, which is amqps://", name));
    std::string& member = name == "ca_file"     ? url.ca_file
                          : name == "cert_file" ? url.cert_file
                          : name == "key_file"  ? url.key_file
                                                : url.server_name;
    member = std::move(value);
    return {};
}

Result<void> ReadOptions(std::string_view text, BrokerUrl& url) {
    for (;;) {
        const std::size_t end = text.find('&');
        KSANA_TRY_VOID(ReadOption(text.substr(0, end), url));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    if (url.cert_file.empty() != url.key_file.empty()) {
        return Wrong("cert_file and key_file go together");
    }
    return {};
}

}  // namespace

Result<BrokerUrl> ParseBrokerUrl(std::string_view text) {
    BrokerUrl url;
    constexpr std::string_view kPlain = "amqp://";
    constexpr std::string_view kTls = "amqps://";
    if (text.starts_with(kTls)) {
        url.tls = true;
        url.port = kTlsPort;
        text.remove_prefix(kTls.size());
    } else if (text.starts_with(kPlain)) {
        text.remove_prefix(kPlain.size());
    } else {
        return Wrong("write amqp://USER:PASSWORD@HOST/VHOST, or amqps:// for TLS");
    }
    std::optional<std::string_view> options;
    if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
        options = text.substr(mark + 1);
        text = text.substr(0, mark);
        if (options->find('@') != std::string_view::npos) {
            return Wrong("write ? as %3F and @ as %40 in the user name and the password");
        }
    }
    if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
        KSANA_TRY_VOID(ReadUser(text.substr(0, at), url));
        text.remove_prefix(at + 1);
    }
    const std::size_t slash = text.find('/');
    KSANA_TRY_VOID(ReadHost(text.substr(0, slash), url));
    if (slash != std::string_view::npos && slash + 1 < text.size()) {
        const std::string_view vhost = text.substr(slash + 1);
        if (vhost.find('/') != std::string_view::npos) {
            return Wrong("write / as %2F in the virtual host");
        }
        KSANA_TRY(url.vhost, Decode(vhost, "the virtual host"));
    }
    if (options && !options->empty()) KSANA_TRY_VOID(ReadOptions(*options, url));
    return url;
}

std::string BrokerUrl::name() const {
    const bool ipv6 = host.find(':') != std::string::npos;
    return fmt::format("{}://{}@{}{}{}:{}{}", tls ? "amqps" : "amqp", PercentEncode(user),
                       ipv6 ? "[" : "", host, ipv6 ? "]" : "", port,
                       vhost == "/" ? "" : "/" + PercentEncode(vhost));
}

}  // namespace ksana::broker
