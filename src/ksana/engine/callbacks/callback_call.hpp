#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/alert/alert_rule.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/callback_order.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The prefix of an address that gets a mail instead of a call:
// "mailto:a@example.com,b@example.com".
inline constexpr std::string_view kMailTo = "mailto:";

// The request that an attempt of a callback sends: the stored order, combined with the current type
// or alert rule.
struct CallbackCall {
    model::CallbackMethod method = model::CallbackMethod::kPost;
    std::string url;  // empty: no receiver is configured any more; mailto: sends a mail
    std::string body;
    std::string access_key;            // where the request is signed
    std::vector<std::string> secrets;  // where the request is signed; the newest first
    std::string fault;                 // why the request cannot be sent; empty: it can
};

// What calls are signed with.
struct SigningKeys {
    std::string access_key;
    std::vector<std::string> secrets;  // the newest first
};

// Returns the keys by which the callbacks of a type are signed, from the store. kNotFound: there is
// no such type. kInvalidArgument: its callbacks are not signed.
Result<SigningKeys> SigningKeysOf(store::Store& store, const std::string& type);

// Resolves a callback. The current type decides the address and the signature, so that an edit
// applies to pending callbacks too and a secret is never sent to an outdated address. If the type
// is gone (null) or names no receiver any more, the address of the order remains; a signed callback
// without its type cannot be sent.
CallbackCall ResolveCallback(const model::Run& run, const model::RunType* type);
// Does the same for the notice of an alert, by its rule (null: the rule is gone).
CallbackCall ResolveNotice(model::CallbackOrder order, const model::AlertRule* rule);

// Resolves the callback that the run is; null if the run is no callback. Reads the type or rule
// from the store, not from a cache, because a cached secret may be outdated. Returns the store's
// error.
Result<std::shared_ptr<const CallbackCall>> CallbackCallOf(store::Store& store,
                                                           const model::Run& run);

}  // namespace ksana::engine
