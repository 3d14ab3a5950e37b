#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/run_type.hpp"

namespace ksana::codec {

// What stands in an answer where there is a secret, which no answer tells.
inline constexpr std::string_view kSecretMask = "***";

// A type as /api/v1 shows it: its definition, and when it was made and changed. Secrets are masked.
std::string RunTypeViewToJson(const model::RunType& type);

// A definition that a client sends. What the server keeps may stand in it, as in a copy of an
// answer, and is not looked at; any other unknown member is refused. A masked secret is the one of
// `before`, the type that is to be replaced (null: there is none, and the mask is refused).
Result<model::RunType> RunTypeFromView(std::string_view text, const model::RunType* before);

// What a merge patch (RFC 7396) makes of a type.
Result<model::RunType> PatchedRunType(const model::RunType& before, std::string_view patch);

// The names of the members in which two types differ; names only.
std::vector<std::string> ChangedMembers(const model::RunType& before, const model::RunType& after);

extern const NamedSchema kTypeDefinitionSchema;
extern const NamedSchema kTypePatchSchema;
extern const NamedSchema kTypeSchema;

}  // namespace ksana::codec
