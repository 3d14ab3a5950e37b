#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/http_server/routing/message.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::api {

// Entity tags (RFC 9110, 8.8.3).
//
// That of a job has three parts: "<version>.<made>-<hash>". The first is the row's version, which
// grows with every change of the definition; the second tells a job from one of the same id that
// was deleted. A change insists (If-Match) on these two only: runs that come and go in between are
// not what its maker has overlooked. The hash is of the whole answer, so that If-None-Match sees
// them. A bare "<version>" matches too.
std::string JobTag(const model::Job& job, std::string_view body);
// Of anything else: a hash of the answer.
std::string BodyTag(std::string_view body);
// Of what is kept as a document: "<version>-<hash of the answer>".
std::string DocumentTag(std::int64_t version, std::string_view body);

// What If-Match asks for.
enum class MatchWish : std::uint8_t { kNone, kMatches, kDiffers };
MatchWish IfMatch(const http_server::Request& request, const model::Job& job);
// By the tag of the answer as it is now, or the bare version.
MatchWish IfMatch(const http_server::Request& request, std::int64_t version, std::string_view tag);

// 304 where the client has this answer already, else the answer with its tag.
http_server::Response WithTag(const http_server::Request& request, http_server::Response response,
                              std::string tag);

}  // namespace ksana::api
