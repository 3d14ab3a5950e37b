#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "ksana/store_sqlite/lists/list_sql.hpp"
#include "ksana/store_sqlite/lists/reads.hpp"
#include "ksana/store_sqlite/rows/claim.hpp"
#include "ksana/store_sqlite/rows/packed_run.hpp"
#include "ksana/store_sqlite/rows/run_lanes.hpp"
#include "ksana/store_sqlite/rows/run_rows.hpp"

namespace ksana::store_sqlite::reads {

using model::AuditEvent;
using model::Document;
using model::LedgerEntry;
using model::RunState;
using store_kit::kNoTime;
using store_kit::SeqRange;

namespace {

LedgerEntry ReadLedger(Query& query) {
    LedgerEntry entry;
    entry.seq = query.Int();
    query.Into(entry.job_id);
    entry.range.fate = query.Enum<model::FireFate>();
    entry.range.range.count = query.Int();
    entry.range.range.first = query.Time();
    entry.range.range.last = query.Time();
    entry.recorded_at = query.Time();
    return entry;
}

AuditEvent ReadEvent(Query& query) {
    AuditEvent event;
    event.seq = query.Int();
    event.at = query.Time();
    query.Into(event.tenant);
    query.Into(event.action);
    query.Into(event.user);
    query.Into(event.resource_type);
    query.Into(event.resource_id);
    query.Into(event.old_object);
    query.Into(event.new_object);
    query.Into(event.data);
    query.Into(event.client_ip);
    query.Into(event.method);
    return event;
}

// A sample with its sort key.
struct EndedSample {
    std::int64_t final_at;
    Uuid id;
    store::RunSample sample;
};

Query& BindSpan(Query& query, const store::StatisticsParams& params) {
    return query.Text(params.job_id).TimeOr(params.from, INT64_MIN).TimeOr(params.until, kNoTime);
}

Result<void> ReadSamples(Query& query, std::vector<EndedSample>& samples) {
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return {};
        EndedSample& one = samples.emplace_back();
        one.final_at = query.Int();
        one.id = query.Id();
        model::Run run;
        KSANA_TRY_VOID(UnpackStatus(query.View(), run));
        one.sample.state = run.status.state;
        if (run.status.started_at && run.status.ended_at) {
            one.sample.duration = *run.status.ended_at - *run.status.started_at;
        }
    }
}

// Returns the first column of the first row; none if there is no row.
Result<std::optional<std::int64_t>> Number(ReadSession& session, Sql which) {
    Query query = session.connection.Prepared(which);
    KSANA_TRY(const bool row, query.Next());
    if (!row) return std::optional<std::int64_t>();
    return std::optional(query.Int());
}

std::optional<TimePoint> TimeOf(std::optional<std::int64_t> micros) {
    if (!micros || *micros == kNoTime) return std::nullopt;
    return TimePoint(Duration(*micros));
}

auto DepthKey(const store::QueueDepth& depth) {
    return std::tuple(depth.kind, std::string_view(depth.type), depth.state);
}

// Sorts, and merges parts with the same key: queued runs are counted in several lanes.
std::vector<store::QueueDepth> Folded(std::vector<store::QueueDepth> parts) {
    std::ranges::sort(parts, {}, DepthKey);
    std::vector<store::QueueDepth> depths;
    for (store::QueueDepth& part : parts) {
        if (depths.empty() || DepthKey(depths.back()) != DepthKey(part)) {
            depths.push_back(std::move(part));
            continue;
        }
        depths.back().count += part.count;
        depths.back().oldest_ready_at =
            std::min(depths.back().oldest_ready_at, part.oldest_ready_at);
    }
    return depths;
}

// Adds the ready runs of each type, counted in the index alone.
Result<void> AddReadyDepths(ReadSession& session, std::vector<store::QueueDepth>& depths) {
    for (std::size_t i = 0; i < model::kEnumCount<model::ActionKind>; ++i) {
        const auto kind = static_cast<model::ActionKind>(i);
        KSANA_TRY(const std::vector<std::string> types, ReadyTypes(session, kind));
        for (const std::string& type : types) {
            const PlaceRange range = InGroup(ReadyLane(kind), type);
            Query query = session.connection.Prepared(Sql::kCountInRange);
            KSANA_TRY(const bool row, query.Range(range).Next());
            if (!row) continue;
            store::QueueDepth depth{.kind = kind, .type = type, .state = RunState::kQueued};
            depth.count = query.Int();
            depth.oldest_ready_at = query.Time();
            depths.push_back(std::move(depth));
        }
    }
    return {};
}

Result<void> AddDepths(ReadSession& session, const PlaceRange& range, RunState state,
                       std::vector<store::QueueDepth>& depths) {
    Query query = session.connection.Prepared(Sql::kDepthsInRange);
    query.Range(range);
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return {};
        store::QueueDepth depth{.state = state};
        depth.kind = query.Enum<model::ActionKind>();
        query.Into(depth.type);
        depth.count = query.Int();
        depth.oldest_ready_at = query.Time();
        depths.push_back(std::move(depth));
    }
}

// Returns the order of the first run in a lane.
Result<std::optional<std::int64_t>> FirstOrder(ReadSession& session, const PlaceRange& lane) {
    Query query = session.connection.Prepared(Sql::kFirstInRange);
    KSANA_TRY(const bool row, query.Range(lane).Next());
    if (!row) return std::optional<std::int64_t>();
    return std::optional(ReadPlace(query.View()).order);
}

Result<std::vector<AuditEvent>> EventsOf(ReadSession& session, const ListSql& sql) {
    Query query = session.connection.Dynamic(sql.text);
    sql.BindTo(query);
    std::vector<AuditEvent> events;
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return events;
        events.push_back(ReadEvent(query));
    }
}

// Goes from one existing block to the next, and tests each.
Result<std::optional<std::int64_t>> NearestBlock(ReadSession& session,
                                                 const store_kit::EventList& list, SeqRange range) {
    Query event = session.connection.Prepared(list.descending ? Sql::kEventUpTo : Sql::kEventFrom);
    Query look = session.connection.Prepared(Sql::kHasEventInBlock);
    for (;;) {
        KSANA_TRY(const bool any,
                  event.Again().Int(list.descending ? range.last : range.first).Next());
        if (!any) return std::optional<std::int64_t>();
        const std::int64_t seq = event.Int();
        if (seq < range.first || seq > range.last) return std::optional<std::int64_t>();
        const std::int64_t block = seq >> store_kit::kEventBlockBits;
        KSANA_TRY(const bool found, look.Again()
                                        .Int(block)
                                        .TimeOr(list.filter.from, INT64_MIN)
                                        .TimeOr(list.filter.until, INT64_MAX)
                                        .Next());
        if (found) return std::optional(block);
        const SeqRange passed = store_kit::RangeOfBlock(block);
        const std::int64_t end = list.descending ? passed.first : passed.last;
        if (!store_kit::DropUpTo(range, end, list.descending)) return std::optional<std::int64_t>();
    }
}

}  // namespace

Document ReadDocument(Query& query) {
    Document document;
    query.Into(document.kind);
    query.Into(document.key);
    document.version = query.Int();
    query.Into(document.body);
    document.updated_at = query.Time();
    document.expires_at = query.OptionalTime();
    return document;
}

Result<std::vector<LedgerEntry>> ListLedger(ReadSession& session,
                                            const store_kit::LedgerList& list) {
    const ListSql sql = LedgerListSql(list);
    Query query = session.connection.Dynamic(sql.text);
    sql.BindTo(query);
    std::vector<LedgerEntry> entries;
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return entries;
        entries.push_back(ReadLedger(query));
    }
}

Result<std::vector<AuditEvent>> ListEvents(ReadSession& session, const store_kit::EventList& list) {
    if (!store_kit::HasSpan(list)) return EventsOf(session, EventListSql(list));
    return store_kit::ListEventsOfSpan(
        list,
        {.nearest_block = [&](const SeqRange& range) { return NearestBlock(session, list, range); },
         .within =
             [&](const SeqRange& range, std::size_t limit) {
                 store_kit::EventList part = list;
                 part.limit = limit;
                 return EventsOf(session, EventListSql(part, range));
             }});
}

// Checks the prefix here, as the end of a prefix is easier to find in C++ than in SQL.
Result<std::vector<Document>> ListDocuments(ReadSession& session,
                                            const store_kit::DocumentList& list) {
    const bool one_kind = !list.kind.empty();
    Query query =
        session.connection.Prepared(one_kind ? Sql::kListDocuments : Sql::kListAllDocuments);
    if (one_kind) {
        query.Text(list.kind).Text(list.prefix);
    } else {
        query.Text(list.after_kind);
    }
    query.Text(list.after_key).TimeOr(list.alive_at, INT64_MIN);
    std::vector<Document> documents;
    while (documents.size() < list.limit) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) break;
        Document document = ReadDocument(query);
        if (document.key.starts_with(list.prefix)) {
            documents.push_back(std::move(document));
        } else if (one_kind) {
            break;
        }
    }
    return documents;
}

Result<std::optional<model::Run>> FindFire(ReadSession& session, const std::string& job_id,
                                           TimePoint nominal) {
    Query query = session.connection.Prepared(Sql::kFindFire);
    query.Text(job_id).Time(nominal);
    return ReadOneRun(session, query);
}

Result<std::vector<store::RunSample>> Samples(ReadSession& session,
                                              const store::StatisticsParams& params,
                                              std::size_t limit) {
    std::vector<EndedSample> found;
    Query recent = session.connection.Prepared(Sql::kSampleRecent);
    BindSpan(recent, params);
    KSANA_TRY_VOID(ReadSamples(recent, found));
    Query listed = session.connection.Prepared(Sql::kSampleRuns);
    BindSpan(listed, params).Int(static_cast<std::int64_t>(limit));
    KSANA_TRY_VOID(ReadSamples(listed, found));
    std::ranges::sort(found, std::greater(), [](const EndedSample& sample) {
        return std::pair(sample.final_at, sample.id);
    });
    if (found.size() > limit) found.resize(limit);
    std::vector<store::RunSample> samples;
    samples.reserve(found.size());
    for (const EndedSample& one : found) samples.push_back(one.sample);
    return samples;
}

Result<std::vector<store::QueueDepth>> Depths(ReadSession& session) {
    static constexpr std::array kOthers = {RunState::kScheduled, RunState::kRunning,
                                           RunState::kCompleting, RunState::kHeld};
    std::vector<store::QueueDepth> depths;
    KSANA_TRY_VOID(AddReadyDepths(session, depths));
    KSANA_TRY_VOID(AddDepths(session, InLane(kBlockedLane), RunState::kQueued, depths));
    KSANA_TRY_VOID(AddDepths(session, InLane(kAwaitingLane), RunState::kQueued, depths));
    KSANA_TRY_VOID(
        AddDepths(session, InLanes(kSelectiveLanes, kLastLane), RunState::kQueued, depths));
    for (const RunState state : kOthers) {
        KSANA_TRY_VOID(AddDepths(session, InLane(LaneOf(state)), state, depths));
    }
    return Folded(std::move(depths));
}

Result<store::WakeTimes> NextWake(ReadSession& session) {
    KSANA_TRY(const auto plan, Number(session, Sql::kNextPlan));
    KSANA_TRY(const auto ready, FirstOrder(session, InLane(kScheduledLane)));
    KSANA_TRY(auto expiry, FirstOrder(session, InLane(kRunningLane)));
    KSANA_TRY(const auto look_at, FirstOrder(session, InLane(kAwaitingLane)));
    if (look_at) expiry = std::min(expiry.value_or(*look_at), *look_at);
    KSANA_TRY(const auto queued, FirstOrder(session, InLanes(kReadyLanes, kLastLane)));
    return store::WakeTimes{.now = {},
                            .plan = TimeOf(plan),
                            .ready = TimeOf(ready),
                            .expiry = TimeOf(expiry),
                            .queued = queued.has_value()};
}

Result<store::RecordCounts> Counts(ReadSession& session) {
    KSANA_TRY(const auto jobs, Number(session, Sql::kCountJobs));
    KSANA_TRY(const auto runs, Number(session, Sql::kCountRuns));
    KSANA_TRY(const auto attempts, Number(session, Sql::kCountAttempts));
    KSANA_TRY(const auto ledger, Number(session, Sql::kCountLedger));
    KSANA_TRY(const auto events, Number(session, Sql::kCountEvents));
    KSANA_TRY(const auto documents, Number(session, Sql::kCountDocuments));
    return store::RecordCounts{.jobs = jobs.value_or(0),
                               .runs = runs.value_or(0),
                               .attempts = attempts.value_or(0),
                               .ledger = ledger.value_or(0),
                               .events = events.value_or(0),
                               .documents = documents.value_or(0)};
}

Result<std::vector<std::string>> DependantsOf(ReadSession& session, const std::string& job_id) {
    Query query = session.connection.Prepared(Sql::kFindDependants);
    query.Text(job_id);
    std::vector<std::string> ids;
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) return ids;
        ids.push_back(query.Text());
    }
}

Result<std::vector<store::GroupSize>> Groups(ReadSession& session, const store::GroupQuery& query) {
    Query sizes =
        session.connection.Prepared(query.name.empty() ? Sql::kGroupSizes : Sql::kGroupSize);
    sizes.Text(query.after);
    if (!query.name.empty()) sizes.Text(query.name);
    sizes.Int(static_cast<std::int64_t>(query.limit));
    std::vector<store::GroupSize> groups;
    for (;;) {
        KSANA_TRY(const bool row, sizes.Next());
        if (!row) return groups;
        store::GroupSize& size = groups.emplace_back();
        size.name = sizes.Text();
        size.jobs = sizes.Int();
        size.paused = sizes.Int();
    }
}

}  // namespace ksana::store_sqlite::reads
