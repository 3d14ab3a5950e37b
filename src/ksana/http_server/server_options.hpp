#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"

namespace ksana::http_server {

// Files in PEM form: the certificate with its chain, and its key. TLS 1.2 and newer.
struct TlsOptions {
    std::string certificate_file;
    std::string key_file;
};

// Every limit of a server.
struct ServerOptions {
    std::string address = "127.0.0.1";  // an IP address
    std::uint16_t port = 0;             // 0: any that is free
    std::optional<TlsOptions> tls;

    std::size_t max_header_bytes = std::size_t{16} * 1024;
    std::size_t max_header_fields = 100;
    std::size_t max_body_bytes = std::size_t{1024} * 1024;  // a route may say otherwise
    std::size_t max_connections = 10'000;
    // One IPv4 address, or one /64 of IPv6.
    std::size_t max_connections_per_address = 1'000;

    // From the first byte of a head to its last; also for a TLS handshake.
    Duration header_deadline = std::chrono::seconds(10);
    // A body, or an answer, gets this long, and a second more for every min_rate_bytes of it that
    // came, or that are to go.
    Duration body_deadline = std::chrono::seconds(10);
    Duration write_deadline = std::chrono::seconds(10);
    std::size_t min_rate_bytes = std::size_t{16} * 1024;
    Duration idle_timeout = std::chrono::seconds(60);  // between requests
    Duration linger = std::chrono::seconds(2);  // for a client to close after our last answer

    std::size_t io_threads = 1;
    std::size_t pool_threads = 8;
    std::size_t pool_queue = 1024;  // requests that wait for a thread; more are answered 503

    // What is under way when Stop is called may go on for so long.
    Duration drain = std::chrono::seconds(10);
    // Called by Stop before it drains: the time to answer polls that are parked.
    std::function<void()> on_drain;
};

}  // namespace ksana::http_server
