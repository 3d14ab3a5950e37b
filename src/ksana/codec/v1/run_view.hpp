#pragma once

#include <span>
#include <string>

#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::codec {

// A run as a list of /api/v1 shows it: without its payload, result and detail, which may be large.
std::string RunViewToJson(const model::Run& run);
// The same for whoever submitted it; `already`: it was there before.
std::string SubmittedRunToJson(const model::Run& run, bool already);
// All of it, with its attempts, oldest first. The exec_id is not shown to anybody: it is what an
// attempt proves itself with.
std::string RunHistoryToJson(const model::Run& run, std::span<const model::Attempt> attempts);

extern const NamedSchema kRunSchema;
extern const NamedSchema kSubmittedRunSchema;
extern const NamedSchema kRunHistorySchema;

}  // namespace ksana::codec
