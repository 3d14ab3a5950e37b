#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/callback_order.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::codec {

// The payload of a callback run as JSON.
std::string CallbackOrderToJson(const model::CallbackOrder& order);
Result<model::CallbackOrder> CallbackOrderFromJson(std::string_view text);

// Returns the body that is sent about a finished run (T-10): {"ext", "result"}, or {"task_id",
// "error_info", "ext"}. JSON of the run is passed on byte by byte.
std::string CallbackBody(const model::Run& run, model::CallbackEvent event);

// Which dead letters to send again. Empty: any.
struct RedeliverRequest {
    std::string type;
    std::string tenant;
    model::CallbackState state = model::CallbackState::kFailed;
};
Result<RedeliverRequest> RedeliverRequestFromJson(std::string_view text);

// Returns a callback run as /api/v1 shows it.
std::string CallbackViewToJson(const model::Run& run);

extern const NamedSchema kCallbackSchema;
extern const NamedSchema kRedeliverRequestSchema;

}  // namespace ksana::codec
