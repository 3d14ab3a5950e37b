#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "apps/ksana/doctor/doctor_checks.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_client.hpp"

namespace ksana::app {
namespace {

using Level = Finding::Level;

// Tries to bind to the address. Returns 0, or an errno.
int TryToBind(const std::string& address, std::uint16_t port) {
    sockaddr_in four{};
    sockaddr_in6 six{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    const bool is_four = ::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1;
    if (!is_four && ::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) != 1) return EINVAL;
    const int made = ::socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) return errno;
    const int on = 1;
    (void)::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_storage place{};
    const socklen_t size = is_four ? sizeof four : sizeof six;
    std::memcpy(&place, is_four ? static_cast<const void*>(&four) : &six, size);
    // The sockets interface takes every kind of address by this type.
    const int bound = ::bind(made, static_cast<const sockaddr*>(static_cast<void*>(&place)), size);
    const int error = bound == 0 ? 0 : errno;
    (void)::close(made);
    return error;
}

// Returns the address that a client on this machine uses: loopback for a wildcard address.
std::string Reachable(const std::string& address) {
    if (address == "0.0.0.0") return "127.0.0.1";
    if (address == "::") return "[::1]";
    return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

// The port is in use. Asks whether the listener is a ksana server, and whether it is ready.
Finding AskServer(const server::Settings& settings, const std::string& shown,
                  const Process& process) {
    const bool tls = !settings.tls_certificate.empty();
    const std::string url = fmt::format("{}://{}:{}", tls ? "https" : "http",
                                        Reachable(settings.address), settings.port);
    const Finding stranger = {"port", Level::kFail, shown + ": in use by another program",
                              "stop that program, or set another port"};
    auto api = client::ApiClient::Make(
        {.server = url, .ca_file = settings.tls_certificate, .timeout = std::chrono::seconds(3)},
        {process.clock, process.ids});
    if (!api) return stranger;
    const auto answer = (*api)->Get("/readyz", {{"verbose", "true"}});
    if (answer && answer->body.ends_with("ok\n")) {
        return {"port", Level::kOk, shown + ": a server answers and is ready", ""};
    }
    if (!answer && Info(answer.error().code).retryable) {
        return {"port", Level::kWarn,
                fmt::format("{}: in use; {}", shown, Printable(answer.error().message)),
                "if it is a server of ours, look into its log; else set another port"};
    }
    return stranger;
}

}  // namespace

Finding CheckPort(const server::Settings& settings, const Process& process) {
    if (settings.port == 0) return {"port", Level::kOk, "any that is free", ""};
    const bool six = settings.address.find(':') != std::string::npos;
    const std::string shown = six ? fmt::format("[{}]:{}", settings.address, settings.port)
                                  : fmt::format("{}:{}", settings.address, settings.port);
    const int error = TryToBind(settings.address, static_cast<std::uint16_t>(settings.port));
    if (error == 0) return {"port", Level::kOk, shown + ": free", ""};
    if (error != EADDRINUSE) {
        return {"port", Level::kFail,
                fmt::format("{}: {}", shown, std::generic_category().message(error)),
                "set another address or port; below 1024 a server needs the right to listen"};
    }
    return AskServer(settings, shown, process);
}

}  // namespace ksana::app
