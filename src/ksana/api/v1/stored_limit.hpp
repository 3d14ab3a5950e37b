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

// A limit as it stands among the settings.
struct StoredLimit {
    model::Limit limit;
    std::int64_t version = 0;
    TimePoint updated_at{};
};

Result<StoredLimit> StoredLimitOf(const model::Document& document);
// Nothing where there is none.
Result<std::optional<StoredLimit>> FindLimit(store::Store& store, const std::string& setting);

// Max_concurrency and rate, null where there is none.
void PutLimit(ObjectText& text, const model::Limit& limit);
codec::ObjectSchema LimitMembers();

// How a change went; nothing: the conditions of the request (If-Match, If-None-Match: *) do not
// hold. They look at the version, so that what is in use does not matter.
struct LimitChange {
    StoredLimit stored;
    bool is_new = false;
};
struct LimitTarget {
    model::LimitKind kind = model::LimitKind::kGroup;
    std::string name;
};
// Both are audited with who sent the request.
Result<std::optional<LimitChange>> PutStoredLimit(store::Store& store,
                                                  const http_server::Request& request,
                                                  const LimitTarget& target,
                                                  const model::Limit& limit);
// False: they do not hold. kNotFound: there is none.
Result<bool> DeleteStoredLimit(store::Store& store, const http_server::Request& request,
                               const LimitTarget& target);

http_server::Response LimitChanged412(const http_server::Request& request);

}  // namespace ksana::api
