#include "ksana/store_sqlite/run_rows.hpp"

#include <algorithm>

#include "ksana/store_sqlite/packed_run.hpp"
#include "ksana/store_sqlite/run_lanes.hpp"
#include "ksana/store_sqlite/run_tags.hpp"

namespace ksana::store_sqlite {

using model::Attempt;
using model::Run;
using model::RunStatus;

namespace {

// Longer payloads stand in a table of their own. A row of runs then stays well below the thousand
// bytes from which on SQLite would spread it over further pages.
constexpr std::size_t kMaxInlinePayload = 512;

// `packed` must live until the statement has run.
void BindStatus(Query& query, const Run& run, std::string& packed) {
    const RunStatus& status = run.status;
    const Place place = PlaceOf(run);
    PackStatus(status, packed);
    query.Time(run.updated_at)
        .Enum(status.state)
        .Time(status.ready_at)
        .Int(place.lane)
        .Text(place.group)
        .Int(place.order);
    model::IsFinal(status.state) ? query.Int(place.order) : query.Null();
    query.Int(status.attempt)
        .Int(status.blocked ? 1 : 0)
        .Text(status.owner)
        .Time(status.started_at)
        .Time(status.ended_at)
        .Time(status.finished_at)
        .Text(status.last_error)
        .Bytes(packed);
}

Result<void> ReadStatus(Query& query, RunStatus& status) {
    status.state = query.Enum<model::RunState>();
    status.ready_at = query.Time();
    status.attempt = static_cast<std::int32_t>(query.Int());
    status.blocked = query.Bool();
    query.Into(status.owner);
    status.started_at = query.OptionalTime();
    status.ended_at = query.OptionalTime();
    status.finished_at = query.OptionalTime();
    query.Into(status.last_error);
    return UnpackStatus(query.View(), status);
}

Result<void> LoadPayload(Session& session, Run& run) {
    Query query = session.connection.Prepared(Sql::kLoadPayload);
    KSANA_TRY(const bool row, query.Id(run.id).Next());
    if (!row) {
        return Error(Code::kDataLoss,
                     "sqlite: the payload of run " + run.id.ToString() + " is missing");
    }
    query.Into(run.payload);
    return {};
}

Result<bool> InsertRunRow(WriteSession& session, Query& query, const Run& run) {
    KSANA_TRY(const std::int64_t policy,
              session.policy_writer.IdOf(session.connection, run.policy));
    const std::string fixed = PackFixed(run);
    std::string packed;
    const bool inline_payload = run.payload.size() <= kMaxInlinePayload;
    query.Again()
        .Id(run.id)
        .Text(run.job_id)
        .Text(run.tenant)
        .Text(run.type)
        .Text(run.category)
        .Text(run.creator)
        .Enum(run.kind)
        .Enum(run.trigger)
        .Int(run.priority)
        .Time(run.nominal_at)
        .Bytes(fixed);
    run.parent ? query.Id(*run.parent) : query.Null();
    query.Int(policy).Time(run.created_at);
    inline_payload ? query.Text(run.payload) : query.Null();
    BindStatus(query, run, packed);
    KSANA_TRY_VOID(query.Run());
    if (session.connection.last_changes() == 0) return false;
    session.running.Written(run);
    if (HasTags(run)) KSANA_TRY_VOID(InsertTags(session, run));
    if (!inline_payload) {
        KSANA_TRY_VOID(
            session.connection.Prepared(Sql::kInsertPayload).Id(run.id).Text(run.payload).Run());
    }
    return true;
}

Attempt ReadAttempt(Query& query) {
    Attempt attempt;
    attempt.run_id = query.Id();
    attempt.number = static_cast<std::int32_t>(query.Int());
    query.Into(attempt.exec_id);
    attempt.fence = query.Int();
    query.Into(attempt.owner);
    attempt.started_at = query.Time();
    attempt.ended_at = query.OptionalTime();
    attempt.outcome = query.OptionalEnum<model::AttemptOutcome>();
    query.Into(attempt.error);
    query.Into(attempt.detail);
    attempt.not_stopping = query.Bool();
    return attempt;
}

}  // namespace

Result<Run> ReadRun(Session& session, Query& query) {
    Run run;
    run.id = query.Id();
    query.Into(run.job_id);
    query.Into(run.tenant);
    query.Into(run.type);
    query.Into(run.category);
    query.Into(run.creator);
    run.kind = query.Enum<model::ActionKind>();
    run.trigger = query.Enum<model::RunTrigger>();
    run.priority = static_cast<std::int32_t>(query.Int());
    run.nominal_at = query.OptionalTime();
    KSANA_TRY_VOID(UnpackFixed(query.View(), run));
    if (query.IsNull()) {
        query.Skip();
    } else {
        run.parent = query.Id();
    }
    KSANA_TRY(run.policy, session.shared.policies.Load(session.connection, query.Int()));
    run.created_at = query.Time();
    const bool outside = query.IsNull();
    query.Into(run.payload);
    run.updated_at = query.Time();
    KSANA_TRY_VOID(ReadStatus(query, run.status));
    if (outside) KSANA_TRY_VOID(LoadPayload(session, run));
    return run;
}

Result<std::vector<Run>> ReadRuns(Session& session, Query& query) {
    std::vector<Run> runs;
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return runs;
        KSANA_TRY(Run run, ReadRun(session, query));
        runs.push_back(std::move(run));
    }
}

Result<std::optional<Run>> ReadOneRun(Session& session, Query& query) {
    KSANA_TRY(const bool row, query.Next());
    if (!row) return std::optional<Run>();
    KSANA_TRY(Run run, ReadRun(session, query));
    return std::optional(std::move(run));
}

Result<std::vector<Run>> LoadRuns(Session& session, const std::vector<Uuid>& ids) {
    std::vector<Run> runs;
    runs.reserve(ids.size());
    Query query = session.connection.Prepared(Sql::kLoadRun);
    for (const Uuid& id : ids) {
        KSANA_TRY(const bool row, query.Again().Id(id).Next());
        if (!row) continue;
        KSANA_TRY(Run run, ReadRun(session, query));
        runs.push_back(std::move(run));
    }
    return runs;
}

Result<std::vector<Attempt>> LoadAttempts(Session& session, const std::vector<Uuid>& ids) {
    std::vector<Uuid> sorted = ids;
    std::ranges::sort(sorted);
    std::vector<Attempt> attempts;
    Query query = session.connection.Prepared(Sql::kLoadAttempts);
    for (const Uuid& id : sorted) {
        query.Again().Id(id);
        for (;;) {
            KSANA_TRY(const bool row, query.Next());
            if (!row) break;
            attempts.push_back(ReadAttempt(query));
        }
    }
    return attempts;
}

Result<std::vector<bool>> InsertRunRows(WriteSession& session, const std::vector<Run>& runs) {
    std::vector<bool> inserted;
    inserted.reserve(runs.size());
    Query query = session.connection.Prepared(Sql::kInsertRun);
    for (const Run& run : runs) {
        KSANA_TRY(const bool fresh, InsertRunRow(session, query, run));
        inserted.push_back(fresh);
    }
    return inserted;
}

Result<void> UpdateRunRows(WriteSession& session, const std::vector<Run>& runs) {
    Query query = session.connection.Prepared(Sql::kUpdateRun);
    std::string packed;
    for (const Run& run : runs) {
        if (HasTags(run)) KSANA_TRY_VOID(MoveTags(session, run));
        BindStatus(query.Again(), run, packed);
        KSANA_TRY_VOID(query.Id(run.id).Run());
        if (session.connection.last_changes() != 0) session.running.Written(run);
    }
    return {};
}

Result<void> DeleteRunRows(WriteSession& session, const std::vector<Uuid>& ids) {
    Connection& connection = session.connection;
    KSANA_TRY(const std::vector<Run> runs, LoadRuns(session, ids));
    for (const Run& run : runs) {
        if (HasTags(run)) KSANA_TRY_VOID(DeleteTags(session, run));
        if (!run.unique.key.empty()) {
            KSANA_TRY_VOID(connection.Prepared(Sql::kFreeKey)
                               .Text(run.tenant)
                               .Text(run.unique.key)
                               .Id(run.id)
                               .Run());
        }
        if (run.payload.size() > kMaxInlinePayload) {
            KSANA_TRY_VOID(connection.Prepared(Sql::kDeletePayload).Id(run.id).Run());
        }
        KSANA_TRY_VOID(connection.Prepared(Sql::kDeleteAttempts).Id(run.id).Run());
        KSANA_TRY_VOID(connection.Prepared(Sql::kDeleteRun).Id(run.id).Run());
        session.running.Deleted(run.id);
    }
    return {};
}

Result<void> InsertAttemptRows(Session& session, const std::vector<Attempt>& attempts) {
    Query query = session.connection.Prepared(Sql::kInsertAttempt);
    for (const Attempt& attempt : attempts) {
        KSANA_TRY_VOID(query.Again()
                           .Id(attempt.run_id)
                           .Int(attempt.number)
                           .Text(attempt.exec_id)
                           .Int(attempt.fence)
                           .Text(attempt.owner)
                           .Time(attempt.started_at)
                           .Time(attempt.ended_at)
                           .Enum(attempt.outcome)
                           .Text(attempt.error)
                           .Text(attempt.detail)
                           .Int(attempt.not_stopping ? 1 : 0)
                           .Run());
    }
    return {};
}

}  // namespace ksana::store_sqlite
