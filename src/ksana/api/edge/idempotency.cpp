#include "ksana/api/edge/idempotency.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ksana/api/edge/client_shares.hpp"
#include "ksana/api/edge/cursors.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/http_server/routing/problem.hpp"

namespace ksana::api {
namespace {

using codec::StoredAnswer;
using http_server::Request;
using http_server::Response;

constexpr std::string_view kKeyHeader = "Idempotency-Key";
constexpr std::size_t kLongestKey = 255;
constexpr Duration kKept = std::chrono::hours(24);
// A request that has not answered for this long is considered dead, and its key may be taken over.
constexpr Duration kPatience = std::chrono::minutes(2);
// Attempts of concurrent requests with the same key to take it.
constexpr int kMaxTries = 10;
// Shortest time between two counts while there are too many keys.
constexpr Duration kCountEvery = std::chrono::seconds(10);
constexpr Duration kPeriod = kKept / 2;
// A client with fewer keys than these may send more although there are too many.
constexpr std::size_t kFewKeys = 1'000;
constexpr std::string_view kKeys = "api_v1/idempotency/";

// Returns how many keys there may be for such a client to send more.
std::size_t MostWithFew(std::size_t keys) { return keys + keys / 4; }

bool IsKey(std::string_view key) {
    return !key.empty() && key.size() <= kLongestKey &&
           std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string HashOf(const Request& request) {
    std::string text =
        fmt::format("{}\n{}\n{}\n", NameOf(request.method), request.path, request.caller.name);
    for (const auto& [name, value] : request.query) {
        text += fmt::format("{}:{}={}:{}\n", name.size(), name, value.size(), value);
    }
    const std::array<std::string_view, 3> parts = {text, "\n", request.body};
    return Sha256(parts);
}

Response Replay(const StoredAnswer& answer) {
    Response response{.status = answer.status,
                      .content_type = answer.content_type,
                      .body = answer.body,
                      .headers = {}};
    for (const auto& [name, value] : answer.headers) response.headers.emplace_back(name, value);
    response.headers.emplace_back("Idempotency-Replayed", "true");
    return response;
}

Response Problem422(const Request& request) {
    return ProblemOf(http_server::Fault{.status = 422,
                                        .code = "idempotency_key_reused",
                                        .detail = "this Idempotency-Key came with another request"},
                     {.instance = request.path, .request_id = request.request_id});
}

Response Problem409(const Request& request) {
    Response response = ProblemOf(
        http_server::Fault{.status = 409,
                           .code = "request_in_progress",
                           .detail = "the request with this Idempotency-Key is under way"},
        {.instance = request.path, .request_id = request.request_id});
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

}  // namespace

Result<Response> Idempotency::Run(const Request& request, const CallHandler& handler) {
    const auto given = request.headers.Find(kKeyHeader);
    if (!given) return handler({.request = request, .id = {}, .again = false});
    if (!IsKey(*given) || request.headers.Count(kKeyHeader) > 1) {
        return Error(std::vector<Problem>{
            {fmt::format("/headers/{}", kKeyHeader),
             fmt::format("must be one text of 1 to {} visible ASCII characters", kLongestKey)}});
    }
    const std::string hash = HashOf(request);
    const std::string key =
        std::string(kKeys) + Sha256(fmt::format("{}\n{}", request.caller.name, *given));
    KSANA_TRY(Held held, Take(key, hash, ClientOf(request)));
    if (held.answer.request != hash) return Problem422(request);
    if (held.answer.status != 0) return Replay(held.answer);
    if (held.version == 0) return Problem409(request);
    auto answer = handler({.request = request, .id = held.answer.id, .again = held.again});
    Response response = answer ? *std::move(answer) : ProblemOf(answer.error(), request);
    if (auto kept = Keep(key, held, response); !kept) {
        // The change is committed. A repetition waits for kPatience and then finds it by the same
        // id.
        Log(LogLevel::kWarn, "an answer could not be kept for its Idempotency-Key",
            {{"request_id", request.request_id}, {"error", kept.error().Describe()}});
    }
    return response;
}

// Takes the key, or returns what is stored under it. The caller holds the key if `version` is not
// 0. kUnavailable: too many concurrent requests with the same key.
Result<Idempotency::Held> Idempotency::Take(const std::string& key, const std::string& hash,
                                            const std::string& client) {
    for (int tries = 0; tries < kMaxTries; ++tries) {
        KSANA_TRY(auto held, TryTake(key, hash, client));
        if (held) return *std::move(held);
    }
    return Error(Code::kUnavailable, "too many requests with the same Idempotency-Key");
}

// Returns nothing if another request was faster; the caller tries again.
Result<std::optional<Idempotency::Held>> Idempotency::TryTake(const std::string& key,
                                                              const std::string& hash,
                                                              const std::string& client) {
    KSANA_TRY(const TimePoint now, store_.Now());
    Held held;
    std::int64_t expected = 0;
    const auto document = store_.settings().Get(key);
    if (document) {
        KSANA_TRY(held.answer, codec::StoredAnswerFromJson(document->body));
        const bool over = held.answer.status != 0 || held.answer.until > now;
        if (held.answer.request != hash || over) return std::optional(std::move(held));
        held.again = true;
        expected = document->version;
    } else if (document.error().code == Code::kNotFound) {
        held.answer.request = hash;
        held.answer.id = ids_.Next();
        KSANA_TRY_VOID(CheckRoom(client, now));
    } else {
        return document.error();
    }
    held.answer.until = now + kPatience;
    auto version = Put(key, held.answer, expected, now);
    if (!version) {
        const Code code = version.error().code;
        if (code == Code::kAlreadyExists || code == Code::kConflict) return std::optional<Held>();
        return version.error();
    }
    held.version = *version;
    return std::optional(std::move(held));
}

Result<std::int64_t> Idempotency::Put(const std::string& key, const StoredAnswer& answer,
                                      std::int64_t expected, TimePoint now) {
    KSANA_TRY(const model::Document written,
              store_.settings().Put({.key = key,
                                     .value = codec::StoredAnswerToJson(answer),
                                     .expected = expected,
                                     .expires_at = now + kKept}));
    return written.version;
}

Result<void> Idempotency::Keep(const std::string& key, Held& held, const Response& response) {
    if (response.status >= 400 && response.status < 500) {
        return store_.settings().Delete(key, held.version);
    }
    KSANA_TRY(const TimePoint now, store_.Now());
    held.answer.until = now;
    if (response.status < 400) {
        held.answer.status = response.status;
        held.answer.content_type = response.content_type;
        held.answer.body = response.body;
        for (const auto& [name, value] : response.headers) held.answer.headers[name] = value;
    }
    auto version = Put(key, held.answer, held.version, now);
    if (version || version.error().code != Code::kInvalidArgument) {
        return version ? Result<void>() : std::move(version).error();
    }
    held.answer.body.clear();  // too large for a document: the headers lead to it
    KSANA_TRY([[maybe_unused]] const auto without, Put(key, held.answer, held.version, now));
    return {};
}

// Returns kExhausted if there are too many keys. Keys are counted once; then only new keys of this
// node are added. Keys of other nodes and expired keys are noticed when the limit seems reached and
// keys are counted again.
Result<void> Idempotency::CheckRoom(const std::string& client, TimePoint now) {
    const MutexLock lock(mutex_);
    const std::size_t own = KeysOf(client, now);
    if (own >= limits_.of_client) {
        return Error(Code::kExhausted,
                     fmt::format("{} requests of this client with an Idempotency-Key are "
                                 "remembered; send it without one, or later",
                                 own));
    }
    if (!keys_ || *keys_ >= limits_.keys) {
        if (!counted_ || now - *counted_ >= kCountEvery || now < *counted_) {
            KSANA_TRY(keys_, CountKeys());
            counted_ = now;
        }
        const std::size_t most = own < kFewKeys ? MostWithFew(limits_.keys) : limits_.keys;
        if (*keys_ >= most) {
            return Error(Code::kExhausted,
                         fmt::format("{} requests with an Idempotency-Key are remembered; send it "
                                     "without one, or later",
                                     *keys_));
        }
    }
    ++*keys_;
    ++recent_[client];
    return {};
}

// Returns how many keys the client has sent in this period and the one before.
std::size_t Idempotency::KeysOf(const std::string& client, TimePoint now) {
    if (now - period_ >= kPeriod) {
        former_ = now - period_ < 2 * kPeriod ? std::move(recent_) : Counts();
        recent_ = Counts();
        period_ = now;
    }
    const auto in = [&client](const Counts& counts) {
        const auto found = counts.find(client);
        return found == counts.end() ? std::size_t{0} : found->second;
    };
    return in(recent_) + in(former_);
}

Result<std::size_t> Idempotency::CountKeys() {
    std::size_t count = 0;
    store::ListParams params{
        .prefix = std::string(kKeys), .limit = store::kMaxPageSize, .cursor = {}};
    do {
        KSANA_TRY(const auto page, store_.settings().List(params));
        count += page.items.size();
        params.cursor = page.next;
    } while (!params.cursor.empty() && count < MostWithFew(limits_.keys));
    return count;
}

}  // namespace ksana::api
