#pragma once

#include <span>
#include <string>

#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::codec {

// Returns a run as lists of /api/v1 show it: without payload, result and detail, which may be
// large.
std::string RunViewToJson(const model::Run& run);
// Returns the same for the client that submitted the run. `already`: the run existed before.
std::string SubmittedRunToJson(const model::Run& run, bool already);
// Returns the whole run with its attempts, oldest first. The exec_id is never shown: an attempt
// authenticates its reports with it.
// `unserved`: why nobody can take a run that waits; empty: somebody can, or it does not wait.
std::string RunHistoryToJson(const model::Run& run, std::span<const model::Attempt> attempts,
                             const std::string& unserved = {});

extern const NamedSchema kRunSchema;
extern const NamedSchema kSubmittedRunSchema;
extern const NamedSchema kRunHistorySchema;

}  // namespace ksana::codec
