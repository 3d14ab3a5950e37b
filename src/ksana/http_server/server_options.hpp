#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"

namespace ksana::http_server {

// PEM files: the certificate with its chain, and its key. The server accepts TLS 1.2 and newer.
struct TlsOptions {
    std::string certificate_file;
    std::string key_file;
};

// The address and all limits of a server.
struct ServerOptions {
    std::string address = "127.0.0.1";  // an IP address
    std::uint16_t port = 0;             // 0: any free port
    std::optional<TlsOptions> tls;

    std::size_t max_header_bytes = std::size_t{16} * 1024;
    std::size_t max_header_fields = 100;
    std::size_t max_body_bytes = std::size_t{1024} * 1024;  // default; see Route::WithBodyLimit
    // Memory for all bodies that are being read or handled; see BodyBudget. No body may be larger.
    std::size_t max_bodies_bytes = std::size_t{64} * 1024 * 1024;
    // Also bounded by the descriptors of the process (RLIMIT_NOFILE).
    std::size_t max_connections = 10'000;
    // An address is one IPv4 address or one /64 of IPv6.
    std::size_t max_connections_per_address = 1'000;
    // Beyond these limits a new connection takes the place of one that has been idle for longest.
    // If none is idle, it is one of so many that serve only probes (Route::ForProbes).
    std::size_t reserved_connections = 16;

    // From the first byte of a request head to its last. Also limits the TLS handshake.
    Duration header_deadline = std::chrono::seconds(10);
    // Time for a body to arrive, or for an answer to be written. Extended by one second for every
    // min_rate_bytes that have arrived, or that are to be written.
    Duration body_deadline = std::chrono::seconds(10);
    Duration write_deadline = std::chrono::seconds(10);
    std::size_t min_rate_bytes = std::size_t{16} * 1024;
    Duration idle_timeout = std::chrono::seconds(60);  // between requests
    Duration linger =
        std::chrono::seconds(2);  // time for the client to close after the last answer

    std::size_t io_threads = 1;
    std::size_t pool_threads = 8;
    std::size_t pool_queue = 1024;  // requests waiting for a pool thread; more get a 503

    // Time that requests in flight get to finish when Stop is called.
    Duration drain = std::chrono::seconds(10);
    // Called by Stop, on its thread, before it drains: the owner answers its waiting polls then.
    std::function<void()> on_drain;
};

}  // namespace ksana::http_server
