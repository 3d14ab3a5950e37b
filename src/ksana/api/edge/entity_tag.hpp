#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/http_server/routing/message.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::api {

// Entity tags (RFC 9110, 8.8.3).
//
// Returns the tag of a job: "<version>.<created>-<hash>". `version` grows with every change of the
// definition; `created` tells a job from a deleted one of the same id. If-Match compares these two
// only, so that runs that start or end in between do not make a change fail. `hash` covers the
// whole answer, so that If-None-Match notices runs. A bare "<version>" matches as well.
std::string JobTag(const model::Job& job, std::string_view body);
// Returns the tag of any other answer: a hash of its body.
std::string BodyTag(std::string_view body);
// Returns the tag of a stored document: "<version>-<hash of the answer>".
std::string DocumentTag(std::int64_t version, std::string_view body);

// Result of comparing a request's If-Match with the current tag. kNone: there is no If-Match.
enum class MatchResult : std::uint8_t { kNone, kMatches, kDiffers };
MatchResult IfMatch(const http_server::Request& request, const model::Job& job);
// Compares with `tag`, the tag of the current answer, or with the bare version.
MatchResult IfMatch(const http_server::Request& request, std::int64_t version,
                    std::string_view tag);
// Compares the version alone, for answers that also show values which change by themselves.
MatchResult IfMatchVersion(const http_server::Request& request, std::int64_t version);

// Returns 304 if the client has this answer already (If-None-Match), else `response`. Both carry
// the tag.
http_server::Response WithTag(const http_server::Request& request, http_server::Response response,
                              std::string tag);

}  // namespace ksana::api
