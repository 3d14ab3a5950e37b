#include "ksana/api/description/problems.hpp"

#include "ksana/api/edge/object_text.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::Permission;

constexpr ProblemInfo kProblems[] = {
    {400, "Invalid", "The request has faults; all of them are told.", "invalid_argument",
     "Invalid argument", "the input has a problem"},
    {401, "Unauthenticated", "No token, or not the right one.", "unauthenticated",
     "Unauthenticated", "a token is needed"},
    {403, "Forbidden", "Known, but not allowed.", "permission_denied", "Permission denied",
     "requests of other origins change nothing here"},
    {404, "NotFound", "There is no such thing.", "not_found", "Not found",
     "there is no job \"nightly\""},
    {409, "Conflict", "It cannot be done as things are.", "conflict", "Conflict",
     "the run is succeeded: it is over", true},
    {412, "PreconditionFailed", "It is not what If-Match or If-None-Match asks for.",
     "precondition_failed", "Precondition failed",
     "the job is not what the condition asks for: read it again"},
    {415, "UnsupportedMediaType", "The body is not JSON.", "unsupported_media_type",
     "Unsupported media type", "a body is application/json"},
    {422, "Unprocessable", "The Idempotency-Key came with another request.",
     "idempotency_key_reused", "Idempotency key reused",
     "this Idempotency-Key came with another request"},
    {428, "PreconditionRequired", "A blind PUT would undo what others did.",
     "precondition_required", "Precondition required",
     "a PUT replaces the whole job: send If-Match"},
    {0, "Default",
     "Anything else: 405, 413, 421, 429, 431, 503, 507 (the disk of the store is full) and so on. "
     "429, 503 and 507 carry Retry-After.",
     "unavailable", "Unavailable", "the store does not answer", true},
};
constexpr int kStatusOfDefault = 503;

bool Answers(const RouteInfo& route, int status) {
    const bool post = route.method == HttpMethod::kPost;
    const bool changes =
        route.permission == Permission::kWrite || route.permission == Permission::kOperate;
    const bool by_key = post && !route.keyless;
    const bool conditional = !post && changes && !route.ignores_match;
    switch (status) {
        case 401:
            return route.permission != Permission::kPublic;
        case 403:
            return changes || (post && route.permission != Permission::kPublic);
        case 404:
            return route.subject != nullptr && !route.makes_subject;
        case 409:
            return by_key || (!post && changes);
        case 412:
            return conditional;
        case 415:
            return route.body != nullptr;
        case 422:
            return by_key;
        case 428:
            return route.must_match;
        default:
            return true;
    }
}

Schema MakeFault() {
    return ObjectSchema("One fault of the input.")
        .Need("pointer", Schema::Text().Means("JSON Pointer (RFC 6901) into the body; /query/NAME "
                                              "and /headers/NAME for these."))
        .Need("code",
              Schema::Text()
                  .Means("What kind of fault: missing, unknown, wrong_type, not_allowed, "
                         "not_supported, out_of_range, repeated, immutable, bad_cursor, more "
                         "(the last one says how many others there are), or invalid for "
                         "any other.")
                  .Pattern("^[a-z_]+$"))
        .Need("detail", Schema::Text().Means("The fault in words."))
        .May("allowed", Schema::ListOf(Schema::Text()).Means("What could have stood there."));
}

constexpr codec::NamedSchema kFault{"Fault", &MakeFault};

Schema MakeProblem() {
    return ObjectSchema("RFC 9457. The type is stable, and so is the code it ends with.")
        .Need("type", Schema::Text()
                          .Pattern("^urn:ksana:problem:[a-z_]+$")
                          .Means("Names the kind of problem."))
        .Need("title", Schema::Text().Means("The kind of problem in words."))
        .Need("status", Schema::Int().Between(400, 599).Means("That of the answer."))
        .Need("detail", Schema::Text().Means("This problem in words."))
        .Need("instance", Schema::Text().Means("The path of the request."))
        .Need("code", Schema::Text().Pattern("^[a-z_]+$").Means("The end of the type."))
        .Need("request_id", Schema::Text().Means("Also in X-Request-Id and in the server's log."))
        .May("errors", Schema::ListOf(Schema::Ref(kFault))
                           .Means("The faults of the input, a hundred at most."));
}

}  // namespace

const codec::NamedSchema kProblemSchema{"Problem", &MakeProblem};

std::span<const ProblemInfo> AllProblems() { return kProblems; }

std::vector<const ProblemInfo*> ProblemsOf(const RouteInfo& route) {
    std::vector<const ProblemInfo*> found;
    for (const ProblemInfo& problem : kProblems) {
        if (Answers(route, problem.status)) found.push_back(&problem);
    }
    return found;
}

std::string ProblemResponse(const ProblemInfo& problem) {
    ObjectText example;
    example.Put("type", std::string("urn:ksana:problem:") + problem.code);
    example.Put("title", problem.title);
    example.Put("status", std::int64_t{problem.status == 0 ? kStatusOfDefault : problem.status});
    example.Put("detail", problem.detail).Put("instance", "/api/v1/jobs");
    example.Put("code", problem.code).Put("request_id", kRunId.example);
    ObjectText media;
    media.Raw("schema", Schema::Ref(kProblemSchema).ToJson()).Raw("example", example.Take());
    ObjectText response;
    response.Put("description", problem.means);
    if (problem.retry_after) {
        response.Raw("headers", R"({"Retry-After":{"$ref":"#/components/headers/RetryAfter"}})");
    }
    if (problem.status == 401) {
        response.Raw("headers", R"({"WWW-Authenticate":)"
                                R"({"description":"Bearer","schema":{"type":"string"}}})");
    }
    response.Raw("content", ObjectText().Raw("application/problem+json", media.Take()).Take());
    return response.Take();
}

}  // namespace ksana::api
