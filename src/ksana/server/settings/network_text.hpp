#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ksana::server {

// What is wrong with an address to listen on, or nothing: an IPv4 or IPv6 address, or localhost.
// Other names are refused, as what they mean can change between the check and the start.
std::optional<std::string> FaultOfAddress(std::string_view address);

// 127.0.0.0/8, ::1 and localhost: what other machines cannot reach. All else is taken as open.
bool IsLoopback(std::string_view address);

// What is wrong with a range of addresses, or nothing: "10.0.0.0/8", "fd00::/8". A bit beyond the
// prefix is refused: "10.0.0.7/8" was surely not meant to allow all of 10.
std::optional<std::string> FaultOfCidr(std::string_view text);

// What is wrong with the address of a mail server, or nothing: "smtp://HOST:PORT", "smtps://HOST".
// Empty: there is none.
std::optional<std::string> FaultOfSmtpUrl(std::string_view text);
// "auto" or "never".
std::optional<std::string> FaultOfSmtpTls(std::string_view text);

}  // namespace ksana::server
