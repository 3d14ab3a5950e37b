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

// An address that is not called but written to: "mailto:a@example.com,b@example.com".
inline constexpr std::string_view kMailTo = "mailto:";

// What an attempt of a callback sends: its order, with what the type says at the moment.
struct CallbackCall {
    model::CallbackMethod method = model::CallbackMethod::kPost;
    std::string url;  // empty: there is nobody to tell any more; mailto: is a mail
    std::string body;
    std::string access_key;            // where it is signed
    std::vector<std::string> secrets;  // likewise; the newest first
    std::string fault;                 // why it cannot be sent; empty: it can
};

// The type as it is decides where it goes and how it is signed, so that an edit counts for what
// waits, too, and a secret never goes with the address of another time. A type that is gone, or
// names nobody any more, leaves the address of the order; what had to be signed cannot be then.
CallbackCall ResolveCallback(const model::Run& run, const model::RunType* type);
// The same of a notice, by its rule.
CallbackCall ResolveNotice(model::CallbackOrder order, const model::AlertRule* rule);

// The same for runs that are no callbacks: null. Reads the type from the store: it must not be an
// old one, whose secret may be gone.
Result<std::shared_ptr<const CallbackCall>> CallbackCallOf(store::Store& store,
                                                           const model::Run& run);

}  // namespace ksana::engine
