#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ksana/codec/schema/schema.hpp"
#include "ksana/http_server/routing/router.hpp"

namespace ksana::api {

enum class Place : std::uint8_t { kQuery, kPath, kHeader };

// A parameter of a request, as the description shows it. A constant.
struct Parameter {
    const char* name;
    const char* means;
    codec::Schema (*schema)() = &codec::Schema::Text;
    Place place = Place::kQuery;
    const char* example = nullptr;    // as text
    bool repeats = false;             // may be given more than once
    const char* component = nullptr;  // name of the shared component, if several routes use it
};

// Subject under which the description groups routes.
enum class Tag : std::uint8_t {
    kJobs,
    kRuns,
    kAgents,
    kInsight,
    kCalendars,
    kGroups,
    kLimits,
    kBackfills,
    kAudit,
    kCallbacks,
    kAlerts,
    kServer,
    kTypes,
    kWorkers,
    kDescription,
};

// Headers of an answer in addition to those of every answer.
enum AnswerHeader : unsigned { kNoHeader = 0, kETag = 1, kLocation = 2, kAlready = 4 };

// An answer other than a problem.
struct AnswerInfo {
    int status = 0;  // 0: this entry is unused
    const char* means = "";
    const codec::NamedSchema* schema = nullptr;  // null: no body
    unsigned headers = kNoHeader;                // a set of AnswerHeader
    const char* content_type = "application/json";
};

// Whether a list is paged (limit, cursor and Link), and whether it can count all matches (total).
enum class Paging : std::uint8_t { kNone, kPages, kCountedPages };

// Whether a request has a body, and its media type.
enum class BodyNeed : std::uint8_t {
    kRequired,
    kOptional,
    kMergePatch,        // required; application/merge-patch+json
    kMergePatchOrJson,  // required; merge patch or application/json
};

// Everything about one route of /api/v1 except its handler: what the router needs and what the
// description says. A constant that lives as long as the process. What follows from method, path
// and permission is not repeated here: description/problems.cpp derives it.
struct RouteInfo {
    HttpMethod method;
    const char* path;  // under /api/v1
    http_server::Permission permission;
    const char* id;  // unique; generated clients use it as function name
    Tag tag;
    const char* summary;  // one line without a full stop
    const char* more = nullptr;
    const Parameter* subject = nullptr;  // parameter of the path, if any
    std::span<const Parameter> parameters = {};
    Paging paging = Paging::kNone;
    const codec::NamedSchema* body = nullptr;
    BodyNeed body_need = BodyNeed::kRequired;
    std::array<AnswerInfo, 2> answers;

    bool makes_subject = false;  // creates the resource of the path if it does not exist
    bool must_match = false;     // refused without If-Match or If-None-Match
    bool ignores_match = false;  // a change that takes no If-Match
    bool keyless = false;        // a POST that takes no Idempotency-Key

    bool quick_read = false;  // reads one row: runs on the I/O thread if Services::quick_reads
    http_server::Where where = http_server::Where::kPool;
    // Overrides the limit of the body: that of the server, or http_server::kIgnoredBody if `body`
    // is null. Only for routes that take lists or large items.
    std::optional<std::size_t> body_limit = {};
};

// Parameters that several resources share.
inline constexpr Parameter kTenantFilter{
    .name = "tenant", .means = "Of this tenant.", .component = "Tenant"};
inline constexpr Parameter kTypeFilter{
    .name = "type", .means = "Of this type.", .component = "RunType"};
inline constexpr Parameter kParentFilter{.name = "parent",
                                         .means = "Made after this run.",
                                         .schema = &codec::Schema::Id,
                                         .component = "Parent"};
inline constexpr Parameter kFrom{
    .name = "from", .means = "At or after.", .schema = &codec::Schema::Time, .component = "From"};
inline constexpr Parameter kUntil{
    .name = "until", .means = "Before.", .schema = &codec::Schema::Time, .component = "Until"};
inline constexpr Parameter kWords{
    .name = "q",
    .means =
        "Words that must all stand in it: for jobs in id, name, owner, type and last error; "
        "for runs in type, category, creator, job id and last error.",
    .component = "Text"};
inline constexpr Parameter kJobId{.name = "id",
                                  .means = "Id of a job.",
                                  .place = Place::kPath,
                                  .example = "nightly",
                                  .component = "JobId"};
inline constexpr Parameter kRunId{.name = "id",
                                  .means = "Id of a run.",
                                  .schema = &codec::Schema::Id,
                                  .place = Place::kPath,
                                  .example = "0190b6a5-7c1e-7d2a-8f3b-123456789abc",
                                  .component = "RunId"};

// Returns the schema of a sort parameter: each name, also with a leading "-" for descending order.
template <class E>
codec::Schema SortNames() {
    std::vector<std::string> words;
    for (const std::string_view name : model::EnumNames<E>::kNames) {
        words.emplace_back(name);
        words.push_back("-" + std::string(name));
    }
    const std::vector<std::string_view> views(words.begin(), words.end());
    return codec::Schema::OneOf(views);
}

// Returns the schema of a page of a list (edge/list_answer.hpp) with items of this schema.
codec::Schema PageOf(const codec::NamedSchema& item, bool counted);

template <const codec::NamedSchema& kItem>
codec::Schema MakePage() {
    return PageOf(kItem, false);
}
template <const codec::NamedSchema& kItem>
codec::Schema MakeCountedPage() {
    return PageOf(kItem, true);
}

}  // namespace ksana::api
