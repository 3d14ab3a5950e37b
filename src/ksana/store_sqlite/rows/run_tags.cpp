#include "ksana/store_sqlite/rows/run_tags.hpp"

#include "ksana/store_sqlite/rows/run_lanes.hpp"

namespace ksana::store_sqlite {

using model::Run;

namespace {

constexpr std::string_view kDefaultTenant = "default";

// Calls f(tag, value) for every tag that claims can filter by.
template <class F>
Result<void> ForClaimTags(const Run& run, const F& f) {
    if (run.tenant != kDefaultTenant) KSANA_TRY_VOID(f(Tag::kTenant, run.tenant));
    if (!run.category.empty()) KSANA_TRY_VOID(f(Tag::kCategory, run.category));
    if (!run.creator.empty()) KSANA_TRY_VOID(f(Tag::kCreator, run.creator));
    return {};
}

Result<void> WriteTags(ReadSession& session, const Run& run, Sql which) {
    Query query = session.connection.Prepared(which);
    if (run.parent) {
        KSANA_TRY_VOID(query.Again().Enum(Tag::kParent).Id(*run.parent).Id(run.id).Run());
    }
    return ForClaimTags(run, [&](Tag tag, const std::string& value) {
        return query.Again().Enum(tag).Bytes(value).Id(run.id).Run();
    });
}

Result<void> WriteReadyTags(ReadSession& session, const Run& run, std::int64_t rank, Sql which) {
    Query query = session.connection.Prepared(which);
    return ForClaimTags(run, [&](Tag tag, const std::string& value) {
        return query.Again()
            .Enum(tag)
            .Bytes(value)
            .Enum(run.kind)
            .Text(run.type)
            .Int(rank)
            .Id(run.id)
            .Run();
    });
}

// Removes the run from ready_tags, by the rank in its stored row.
Result<void> LeaveReady(ReadSession& session, const Run& run) {
    Query query = session.connection.Prepared(Sql::kLoadPlace);
    KSANA_TRY(const bool row, query.Id(run.id).Next());
    if (!row) return {};
    const Place place = ReadPlace(query.View());
    if (place.lane < kReadyLanes) return {};
    return WriteReadyTags(session, run, place.order, Sql::kDeleteReadyTag);
}

Result<void> EnterReady(ReadSession& session, const Run& run) {
    std::string text;
    PutPlace(run, text);
    const Place place = ReadPlace(text);
    if (place.lane < kReadyLanes) return {};
    return WriteReadyTags(session, run, place.order, Sql::kInsertReadyTag);
}

}  // namespace

bool HasTags(const Run& run) {
    return run.tenant != kDefaultTenant || !run.category.empty() || !run.creator.empty() ||
           run.parent.has_value();
}

Result<void> InsertTags(ReadSession& session, const Run& run) {
    KSANA_TRY_VOID(WriteTags(session, run, Sql::kInsertTag));
    return EnterReady(session, run);
}

Result<void> MoveTags(ReadSession& session, const Run& run) {
    KSANA_TRY_VOID(LeaveReady(session, run));
    return EnterReady(session, run);
}

Result<void> DeleteTags(ReadSession& session, const Run& run) {
    KSANA_TRY_VOID(LeaveReady(session, run));
    return WriteTags(session, run, Sql::kDeleteTag);
}

}  // namespace ksana::store_sqlite
