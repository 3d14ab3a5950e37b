#include "ksana/engine/services/type_service.hpp"

#include <fmt/core.h>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/codec/v1/type_view.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::engine {
namespace {

using model::RunType;

// The number of conflicting writes with other nodes after which a change fails.
constexpr int kMaxTypeTries = 10;

model::AuditEvent Audit(std::string_view action, const std::string& code, const Actor& by,
                        const std::vector<std::string>* changed = nullptr) {
    return AuditOf(by, {.action = action,
                        .resource_type = model::audit::kType,
                        .resource_id = code,
                        .tenant = "default",  // types belong to the installation, not to a tenant
                        .data = codec::AuditDataToJson({{"request_id", by.request_id}}, changed)});
}

// Another writer was faster, so the stored type is another one now.
bool MayTryAgain(const Error& error) {
    return error.code == Code::kConflict || error.code == Code::kAlreadyExists ||
           error.code == Code::kNotFound;
}

}  // namespace

Result<StoredType> TypeService::Get(const std::string& code) {
    // Does not ask the store for a code that no type can have: it would report an invalid key.
    if (!IsIdentifier(code)) {
        return Error(Code::kNotFound, fmt::format("there is no type \"{}\"", code));
    }
    return store_.types().Get(code);
}

Result<std::optional<StoredType>> TypeService::Find(const std::string& code) {
    auto found = Get(code);
    if (found) return std::optional(*std::move(found));
    if (found.error().code == Code::kNotFound) return std::optional<StoredType>();
    return std::move(found).error();
}

Result<StoredType> TypeService::Change(const std::string& code, const Edit& edit, const Actor& by) {
    const MutexLock lock(changing_);
    for (int tries = 1;; ++tries) {
        KSANA_TRY(const std::optional<StoredType> before, Find(code));
        KSANA_TRY(RunType after, edit(before));
        after.code = code;
        if (auto problems = model::ValidateRunType(after); !problems.empty()) {
            return Error(std::move(problems));
        }
        if (!before && book_.size() >= kMaxTypes) {
            return Error(Code::kConflict, fmt::format("there are {} types already", kMaxTypes));
        }
        KSANA_TRY(const TimePoint now, store_.Now());
        after.created_at = before ? before->value.created_at : now;
        after.updated_at = now;
        std::vector<std::string> changed;
        if (before) changed = codec::ChangedMembers(before->value, after);
        auto written =
            store_.types().Put({.type = std::move(after),
                                .expected = before ? before->version : 0,
                                .audit = before ? Audit(model::audit::kChanged, code, by, &changed)
                                                : Audit(model::audit::kCreated, code, by)});
        if (written) {
            Refresh();
            return written;
        }
        if (!MayTryAgain(written.error()) || tries >= kMaxTypeTries) return written.error();
    }
}

Result<void> TypeService::Delete(const std::string& code, const Check& check, const Actor& by) {
    const MutexLock lock(changing_);
    for (int tries = 1;; ++tries) {
        KSANA_TRY(const StoredType stored, Get(code));
        KSANA_TRY_VOID(check(stored));
        const auto deleted =
            store_.types().Delete({.code = code,
                                   .expected = stored.version,
                                   .audit = Audit(model::audit::kDeleted, code, by)});
        if (deleted) {
            Refresh();
            return {};
        }
        if (deleted.error().code != Code::kConflict || tries >= kMaxTypeTries)
            return deleted.error();
    }
}

// The change is stored even if this fails, and the types loop refreshes the cache as well.
void TypeService::Refresh() {
    if (const auto read = book_.Refresh(); !read) {
        Log(LogLevel::kWarn, "types could not be read again", {{"error", read.error().Describe()}});
    }
}

}  // namespace ksana::engine
