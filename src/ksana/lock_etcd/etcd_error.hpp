#pragma once

#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/http_client/call.hpp"

// What an answer of etcd's JSON gateway means.

namespace ksana::lock_etcd {

// Returns the body of a successful answer, or the error: kUnavailable if there was no answer, or
// none that etcd gives, else a code that follows etcd's. The message has the server's text, which
// never repeats passwords or tokens. `where` names the server.
Result<codec::Json> ReadEtcdAnswer(const http_client::CallAnswer& answer, std::string_view where);

// Returns whether the server asks for a new token: it has forgotten the one it was given (restart,
// age, changed users), or was given none.
bool WantsNewToken(const Error& error);

// Returns whether the server does not check users at all.
bool AuthenticationIsOff(const Error& error);

// Returns the integer at `pointer`; the gateway writes 64-bit integers as strings and leaves out
// zeros. 0 for anything else.
std::int64_t IntegerAt(const codec::Json& json, std::string_view pointer);

}  // namespace ksana::lock_etcd
