#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::broker {

// Where a broker is, and as whom to talk to it. Texts are decoded; IPv6 has no brackets.
struct BrokerUrl {
    std::string host;
    std::uint16_t port = 5672;
    bool tls = false;
    std::string user = "guest";
    std::string password = "guest";
    std::string vhost = "/";
    // Whoever hears nothing for two of these takes the connection for broken.
    Duration heartbeat = std::chrono::seconds(10);
    std::string ca_file;    // PEM; empty: the authorities of the system
    std::string cert_file;  // PEM, with key_file: who we are
    std::string key_file;
    std::string server_name;  // what the certificate must be valid for; empty: the host

    // For messages: without the password.
    std::string name() const;

    friend bool operator==(const BrokerUrl&, const BrokerUrl&) = default;
};

// Parses amqp://[USER[:PASSWORD]@]HOST[:5672][/VHOST][?OPTION&…], or amqps:// for TLS (port 5671).
// Options: heartbeat (1s to 1h; a plain number is seconds) and, with TLS, ca_file, cert_file,
// key_file, server_name. User, password, virtual host and options may be percent-encoded, and must
// be if they contain one of :@/?&%. Fails with kInvalidArgument; no message repeats what could be
// a password.
Result<BrokerUrl> ParseBrokerUrl(std::string_view text);

}  // namespace ksana::broker
