#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/run_type.hpp"

namespace ksana::codec {

// Replaces secrets in answers, which never show them.
inline constexpr std::string_view kSecretMask = "***";

// Returns a type as /api/v1 shows it: its definition, and when it was created and changed. Secrets
// are masked.
std::string RunTypeViewToJson(const model::RunType& type);

// Reads a definition that a client sends. Members that the server keeps are ignored, so that a copy
// of an answer can be sent back; any other unknown member is refused. A masked secret means the one
// of `before`, the type to replace (null: there is none, and the mask is refused).
Result<model::RunType> RunTypeFromView(std::string_view text, const model::RunType* before);

// Returns the type changed by a merge patch (RFC 7396).
Result<model::RunType> PatchedRunType(const model::RunType& before, std::string_view patch);

// Returns the names of the members in which two types differ, without their values.
std::vector<std::string> ChangedMembers(const model::RunType& before, const model::RunType& after);

extern const NamedSchema kTypeDefinitionSchema;
extern const NamedSchema kTypePatchSchema;
extern const NamedSchema kTypeSchema;

}  // namespace ksana::codec
