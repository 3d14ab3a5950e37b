#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ksana::server {

// Each FaultOf… function returns what is wrong with a text, or nullopt if it is valid.

// Accepts an IPv4 or IPv6 address, or "localhost". Rejects other names, because their meaning can
// change between the check and the start.
std::optional<std::string> FaultOfAddress(std::string_view address);

// Returns whether other machines cannot reach the address: 127.0.0.0/8, ::1 and localhost.
bool IsLoopback(std::string_view address);

// Accepts the name or the address of a host without port: "ksana.example.org", "10.0.0.5".
std::optional<std::string> FaultOfHost(std::string_view text);

// Accepts a range of addresses: "10.0.0.0/8", "fd00::/8". Rejects set bits beyond the prefix:
// "10.0.0.7/8" is probably not meant to allow all of 10.0.0.0/8.
std::optional<std::string> FaultOfCidr(std::string_view text);

// Accepts the URL of a mail server, "smtp://HOST:PORT" or "smtps://HOST", and an empty text (no
// mail server).
std::optional<std::string> FaultOfSmtpUrl(std::string_view text);
// Accepts "auto" and "never".
std::optional<std::string> FaultOfSmtpTls(std::string_view text);

}  // namespace ksana::server
