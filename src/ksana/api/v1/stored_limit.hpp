#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/api/edge/object_text.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/model/document.hpp"
#include "ksana/model/job/limit.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// A limit as it is stored among the settings.
struct StoredLimit {
    model::Limit limit;
    std::int64_t version = 0;
    TimePoint updated_at{};
};

Result<StoredLimit> StoredLimitOf(const model::Document& document);
// Returns nothing if the limit is not set.
Result<std::optional<StoredLimit>> FindLimit(store::Store& store, const std::string& setting);

// Writes max_concurrency and rate, null where they are not set.
void PutLimit(ObjectText& text, const model::Limit& limit);
codec::ObjectSchema LimitMembers();

// The outcome of a change. The functions below return none, or false, if the conditions of the
// request (If-Match, If-None-Match: *) do not hold. The conditions compare versions only, so that
// current use does not matter.
struct LimitChange {
    StoredLimit stored;
    bool is_new = false;
};
struct LimitTarget {
    model::LimitKind kind = model::LimitKind::kGroup;
    std::string name;
};
// Stores the limit and an audit event that names the sender of the request. Tries again if another
// request changed the limit meanwhile.
Result<std::optional<LimitChange>> PutStoredLimit(store::Store& store,
                                                  const http_server::Request& request,
                                                  const LimitTarget& target,
                                                  const model::Limit& limit);
// Deletes the limit, likewise. kNotFound: it is not set.
Result<bool> DeleteStoredLimit(store::Store& store, const http_server::Request& request,
                               const LimitTarget& target);

// Tells all nodes to forget the breakers of the host, with an audit event.
Result<void> ResetBreakersOf(store::Store& store, const http_server::Request& request,
                             const LimitTarget& host);

http_server::Response LimitChanged412(const http_server::Request& request);

}  // namespace ksana::api
