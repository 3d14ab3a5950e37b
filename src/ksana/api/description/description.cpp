#include "ksana/api/description/description.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "ksana/api/description/problems.hpp"
#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/base/text/names.hpp"

namespace ksana::api {
namespace {

using codec::NamedSchema;
using codec::ObjectSchema;
using codec::Schema;
using http_server::Permission;

constexpr std::string_view kInfo =
    R"({"title":"Ksana","version":"1.0.0","summary":"A job scheduler and task queue.",)"
    R"("description":"Jobs fire on time, runs are what they do, and every fire is accounted for. )"
    R"(Errors are application/problem+json and name every fault. Times are RFC 3339 in UTC, )"
    R"(durations are texts like 1h30m. Within /api/v1 members are only added: clients ignore )"
    R"(those they do not know.","license":{"name":"Apache-2.0","identifier":"Apache-2.0"}})";

struct TagInfo {
    const char* name;
    const char* means;
};
// In the order of the enum Tag.
constexpr TagInfo kTags[] = {
    {"jobs", "What to do and when."},
    {"runs", "What was done."},
    {"agents", "Programs that fetch runs and report on them."},
    {"insight", "Why, and what if."},
    {"calendars", "When schedules do not fire."},
    {"groups", "Jobs that are limited, paused and resumed together."},
    {"limits", "What may run at once, and what is known about the targets."},
    {"backfills", "Runs for fires of the past."},
    {"audit", "What was done by whom, and what happens."},
    {"callbacks", "Who is told of the end of runs."},
    {"alerts", "Who is told of what."},
    {"server", "The server itself."},
    {"types", "What holds for all runs of a type."},
    {"workers", "Who carries runs out, and what they work on."},
    {"description", "This file."},
};

Schema MakeTotal() {
    return ObjectSchema("How many there are on all pages.")
        .Need("count", Schema::Int().Between(0, kMaxTotal).Means("As far as was counted."))
        .Need("relation", Schema::OneOf({"exact", "at_least"})
                              .Means("at_least: counting stopped at 10,000, or had looked at "
                                     "enough."));
}
constexpr NamedSchema kTotal{"Total", &MakeTotal};

Schema MakeLimit() {
    return Schema::Int()
        .Between(1, static_cast<std::int64_t>(kMaxListSize))
        .Default(std::to_string(kListSize));
}
Schema MakeFalse() { return Schema::Flag().Default("false"); }
Schema MakeStar() { return Schema::OneOf({"*"}); }
Schema MakeKey() { return Schema::Text().Between(1, 255); }

// Parameters that follow from the flags of a route.
constexpr Parameter kLimit{
    .name = "limit", .means = "Items on a page.", .schema = &MakeLimit, .component = "Limit"};
constexpr Parameter kCursor{
    .name = "cursor",
    .means = "next_cursor of the page before, with the same filter and order.",
    .component = "Cursor"};
constexpr Parameter kTotalWish{.name = "total",
                               .means = "Also count all that match, up to 10,000.",
                               .schema = &MakeFalse,
                               .component = "Total"};
constexpr Parameter kIfMatch{
    .name = "If-Match",
    .means = "ETag of what was read; a bare version in quotes does, too. Another one there: 412.",
    .place = Place::kHeader,
    .example = "\"1\"",
    .component = "IfMatch"};
constexpr Parameter kIfNew{.name = "If-None-Match",
                           .means = "*: make it; it must not be there.",
                           .schema = &MakeStar,
                           .place = Place::kHeader,
                           .component = "IfNew"};
constexpr Parameter kIfNoneMatch{.name = "If-None-Match",
                                 .means = "ETag of what the client has: 304 while it is the same.",
                                 .place = Place::kHeader,
                                 .component = "IfNoneMatch"};
constexpr Parameter kIdempotencyKey{
    .name = "Idempotency-Key",
    .means =
        "1 to 255 visible ASCII characters. The same request with the same key gets the first "
        "answer again for 24 hours. Answers that changed nothing (4xx) are not kept.",
    .schema = &MakeKey,
    .place = Place::kHeader,
    .component = "IdempotencyKey"};

// A header of an answer: name of its component, name in the answer, meaning and schema.
struct HeaderInfo {
    const char* component;
    const char* name;
    const char* means;
    const char* schema;
};
constexpr HeaderInfo kRequestIdHeader{"RequestId", "X-Request-Id",
                                      "The client's X-Request-Id, or a fresh one.",
                                      R"({"type":"string"})"};
constexpr HeaderInfo kVersionHeader{"KsanaVersion", "Ksana-Version", "Of the server.",
                                    R"({"type":"string"})"};
constexpr HeaderInfo kETagHeader{"ETag", "ETag",
                                 "Changes with the answer. That of a job begins with its version.",
                                 R"({"type":"string"})"};
constexpr HeaderInfo kLocationHeader{"Location", "Location", "Path of what was made.",
                                     R"({"type":"string"})"};
constexpr HeaderInfo kLinkHeader{"Link", "Link", "rel=\"next\": the next page. Absent on the last.",
                                 R"({"type":"string"})"};
constexpr HeaderInfo kReplayedHeader{"IdempotencyReplayed", "Idempotency-Replayed",
                                     "true: the answer of an earlier request with this key.",
                                     R"({"type":"string","enum":["true"]})"};
constexpr HeaderInfo kAlreadyHeader{"KsanaAlready", "Ksana-Already", "Nothing was stored.",
                                    R"({"type":"string","enum":["true"]})"};
constexpr HeaderInfo kRetryAfterHeader{"RetryAfter", "Retry-After", "Seconds.",
                                       R"({"type":"integer"})"};
constexpr const HeaderInfo* kHeaders[] = {&kRequestIdHeader, &kVersionHeader,   &kETagHeader,
                                          &kLocationHeader,  &kLinkHeader,      &kReplayedHeader,
                                          &kAlreadyHeader,   &kRetryAfterHeader};

std::string Array(const std::vector<std::string>& items) {
    return fmt::format("[{}]", fmt::join(items, ","));
}

std::string RefTo(std::string_view kind, std::string_view name) {
    return fmt::format(R"({{"$ref":"#/components/{}/{}"}})", kind, name);
}

const char* PlaceName(Place place) {
    switch (place) {
        case Place::kPath:
            return "path";
        case Place::kHeader:
            return "header";
        default:
            return "query";
    }
}

bool IsChange(const RouteInfo& route) {
    return route.method == HttpMethod::kPut || route.method == HttpMethod::kPatch ||
           route.method == HttpMethod::kDelete;
}

bool TakesKey(const RouteInfo& route) {
    return route.method == HttpMethod::kPost && !route.keyless;
}

bool ShowsTag(const RouteInfo& route) {
    return route.method == HttpMethod::kGet && (route.answers[0].headers & kETag) != 0;
}

// Writes the description, and collects the named schemas and parameters it refers to. Lives in one
// call of Description::Text.
class Writer {
  public:
    std::string Write(const std::vector<const RouteInfo*>& routes) {
        // Paths in the order in which they were added, each with all its methods.
        std::vector<std::pair<std::string, ObjectText>> paths;
        for (const RouteInfo* route : routes) {
            const std::string path = std::string("/api/v1") + route->path;
            auto item = std::ranges::find(paths, path, &std::pair<std::string, ObjectText>::first);
            if (item == paths.end()) item = paths.insert(item, {path, {}});
            item->second.Raw(MethodMember(route->method), Operation(*route));
        }
        ObjectText listed;
        for (auto& [path, operations] : paths) listed.Raw(path, operations.Take());
        ObjectText document;
        document.Put("openapi", "3.1.0").Raw("info", kInfo);
        document.Raw("servers", R"([{"url":"/","description":"The server that tells this."}])");
        document.Raw("security", R"([{"token":[]},{}])").Raw("tags", Tags());
        document.Raw("paths", listed.Take()).Raw("components", Components());
        return document.Take();
    }

  private:
    // The member of a path item for a method: its name in lower case.
    static std::string MethodMember(HttpMethod method) {
        std::string name(NameOf(method));
        std::ranges::transform(name, name.begin(), [](char c) { return Lower(c); });
        return name;
    }

    static std::string Tags() {
        std::vector<std::string> items;
        for (const TagInfo& tag : kTags) {
            items.push_back(
                ObjectText().Put("name", tag.name).Put("description", tag.means).Take());
        }
        return Array(items);
    }

    std::string SchemaText(const Schema& schema) {
        for (const NamedSchema* used : schema.uses()) Meet(*used);
        return schema.ToJson();
    }

    // Writes a named schema, and the schemas it uses, when it is first referred to.
    void Meet(const NamedSchema& named) {
        if (!schemas_.try_emplace(named.name).second) return;
        std::string text = SchemaText(named.make());
        schemas_[named.name] = std::move(text);
    }

    std::string Operation(const RouteInfo& route) {
        ObjectText text;
        text.Put("operationId", route.id);
        text.Raw("tags", fmt::format(R"(["{}"])", kTags[static_cast<std::size_t>(route.tag)].name));
        text.Put("summary", route.summary);
        if (route.more != nullptr) text.Put("description", route.more);
        if (route.permission == Permission::kPublic) text.Raw("security", "[]");
        const std::vector<std::string> parameters = Parameters(route);
        if (!parameters.empty()) text.Raw("parameters", Array(parameters));
        if (route.body != nullptr) text.Raw("requestBody", Body(route));
        text.Raw("responses", Responses(route));
        return text.Take();
    }

    std::vector<std::string> Parameters(const RouteInfo& route) {
        std::vector<std::string> items;
        const auto add = [&](const Parameter& one) {
            std::string text = ParameterText(one);
            if (one.component == nullptr) return items.push_back(std::move(text));
            parameters_.try_emplace(one.component, std::move(text));
            items.push_back(RefTo("parameters", one.component));
        };
        if (route.subject != nullptr) add(*route.subject);
        for (const Parameter& one : route.parameters) add(one);
        if (route.paging != Paging::kNone) {
            add(kLimit);
            add(kCursor);
        }
        if (route.paging == Paging::kCountedPages) add(kTotalWish);
        if (ShowsTag(route)) add(kIfNoneMatch);
        if (IsChange(route) && !route.ignores_match) add(kIfMatch);
        if (route.method == HttpMethod::kPut) add(kIfNew);
        if (TakesKey(route)) add(kIdempotencyKey);
        return items;
    }

    std::string ParameterText(const Parameter& one) {
        ObjectText text;
        text.Put("name", one.name).Put("in", PlaceName(one.place));
        if (one.place == Place::kPath) text.Put("required", true);
        text.Put("description", one.means).Raw("schema", SchemaText(one.schema()));
        if (one.repeats) text.Put("style", "form").Put("explode", true);
        if (one.example != nullptr) text.Put("example", one.example);
        return text.Take();
    }

    std::string Body(const RouteInfo& route) {
        const std::string media =
            ObjectText().Raw("schema", SchemaText(Schema::Ref(*route.body))).Take();
        const BodyNeed need = route.body_need;
        ObjectText content;
        if (need == BodyNeed::kMergePatch || need == BodyNeed::kMergePatchOrJson) {
            content.Raw("application/merge-patch+json", media);
        }
        if (need != BodyNeed::kMergePatch) content.Raw("application/json", media);
        return ObjectText()
            .Put("required", need != BodyNeed::kOptional)
            .Raw("content", content.Take())
            .Take();
    }

    std::string Responses(const RouteInfo& route) {
        ObjectText text;
        for (const AnswerInfo& answer : route.answers) {
            if (answer.status != 0) text.Raw(std::to_string(answer.status), Shown(route, answer));
        }
        if (ShowsTag(route)) text.Raw("304", RefTo("responses", "NotModified"));
        for (const ProblemInfo* problem : ProblemsOf(route)) {
            text.Raw(problem->status == 0 ? "default" : std::to_string(problem->status),
                     RefTo("responses", problem->name));
        }
        return text.Take();
    }

    std::string Shown(const RouteInfo& route, const AnswerInfo& answer) {
        ObjectText headers;
        const auto add = [&](const HeaderInfo& header) {
            headers.Raw(header.name, RefTo("headers", header.component));
        };
        add(kRequestIdHeader);
        add(kVersionHeader);
        if ((answer.headers & kETag) != 0) add(kETagHeader);
        if ((answer.headers & kLocation) != 0) add(kLocationHeader);
        if ((answer.headers & kAlready) != 0) add(kAlreadyHeader);
        if (route.paging != Paging::kNone) add(kLinkHeader);
        if (TakesKey(route)) add(kReplayedHeader);
        ObjectText text;
        text.Put("description", answer.means).Raw("headers", headers.Take());
        if (answer.schema != nullptr) {
            const std::string schema = SchemaText(Schema::Ref(*answer.schema));
            text.Raw("content",
                     ObjectText()
                         .Raw(answer.content_type, ObjectText().Raw("schema", schema).Take())
                         .Take());
        }
        return text.Take();
    }

    std::string Components() {
        ObjectText headers;
        for (const HeaderInfo* header : kHeaders) {
            headers.Raw(header->component, ObjectText()
                                               .Put("description", header->means)
                                               .Raw("schema", header->schema)
                                               .Take());
        }
        ObjectText responses;
        for (const ProblemInfo& problem : AllProblems()) {
            responses.Raw(problem.name, ProblemResponse(problem));
        }
        responses.Raw("NotModified", R"({"description":"The client has it already.",)"
                                     R"("headers":{"ETag":{"$ref":"#/components/headers/ETag"}}})");
        Meet(kProblemSchema);
        ObjectText schemas;
        for (const auto& [name, json] : schemas_) schemas.Raw(name, json);
        ObjectText parameters;
        for (const auto& [name, json] : parameters_) parameters.Raw(name, json);
        return ObjectText()
            .Raw("securitySchemes",
                 R"({"token":{"type":"http","scheme":"bearer",)"
                 R"("description":"Where the server has a token; see docs/configuration.md."}})")
            .Raw("parameters", parameters.Take())
            .Raw("headers", headers.Take())
            .Raw("responses", responses.Take())
            .Raw("schemas", schemas.Take())
            .Take();
    }

    // Sorted by name, so that the text is always the same.
    std::map<std::string_view, std::string> schemas_;
    std::map<std::string_view, std::string> parameters_;
};

}  // namespace

Schema PageOf(const NamedSchema& item, bool counted) {
    ObjectSchema page("One page of a list.");
    page.Need("items", Schema::ListOf(Schema::Ref(item))
                           .AtMost(static_cast<std::int64_t>(kMaxListSize))
                           .Means("In the order of the list."));
    page.Need("next_cursor", Schema::Text().OrNull().Means("null: this was the last page."));
    if (counted) page.May("total", Schema::Ref(kTotal));
    return page;
}

std::shared_ptr<const DescriptionText> Description::Text() const {
    const MutexLock lock(mutex_);
    if (text_ == nullptr) {
        std::string json = Writer().Write(routes_);
        std::string tag = BodyTag(json);
        text_ = std::make_shared<const DescriptionText>(
            DescriptionText{.json = std::move(json), .entity_tag = std::move(tag)});
    }
    return text_;
}

}  // namespace ksana::api
