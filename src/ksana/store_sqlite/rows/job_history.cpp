#include "ksana/store_sqlite/rows/job_history.hpp"

#include "ksana/store_sqlite/rows/run_batch.hpp"

namespace ksana::store_sqlite {
namespace {

using model::JobTally;
using model::Run;

// On average, one in this many runs that end moves the recent runs of its job. A hash of its seq
// decides, because otherwise jobs that began together would all move at the same moment. A job has
// 16 runs in its row on average, and more than 220 once in a million times.
constexpr std::uint64_t kMovesOneIn = 16;

bool IsTimeToMove(std::int64_t seq) {
    auto bits = static_cast<std::uint64_t>(seq) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return (bits ^ (bits >> 31U)) % kMovesOneIn == 0;
}

Result<void> InsertListed(ReadSession& session, const std::string& job_id,
                          const JobTally::Ended& run, std::int64_t seq) {
    return session.connection.Prepared(Sql::kListRun)
        .Text(job_id)
        .Id(run.id)
        .Time(run.at)
        .Int(seq)
        .Run();
}

// Moves the recent runs of the job; the caller clears job_state.recent.
Result<void> MoveRecent(ReadSession& session, const std::string& job_id) {
    return session.connection.Prepared(Sql::kListRecent).Text(job_id).Run();
}

// What is added to the row of one job.
struct Note {
    std::string text;
    // Whether the earlier runs move to job_runs first.
    bool moves = false;
    std::vector<std::int64_t> seqs;

    void Add(std::int64_t seq) {
        text.append(1, ',').append(std::to_string(seq));
        moves = moves || IsTimeToMove(seq);
        seqs.push_back(seq);
    }
};

// Call after the update of the job's row. A deleted job has none, so its runs go to job_runs
// directly.
Result<void> ListUnlessNoted(ReadSession& session, const std::string& job_id,
                             const std::vector<JobTally::Ended>& runs, const Note& note) {
    if (session.connection.last_changes() != 0) return {};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        KSANA_TRY_VOID(InsertListed(session, job_id, runs[i], note.seqs[i]));
    }
    return {};
}

Result<void> AddTallyRow(WriteSession& session, Query& query, const JobTally& tally) {
    Note note;
    for (const JobTally::Ended& run : tally.ended) {
        KSANA_TRY(const std::int64_t seq, session.seq_book.SeqOf(session.connection, run.id));
        note.Add(seq);
        session.noted.Put(run.id, true);
    }
    if (note.moves) KSANA_TRY_VOID(MoveRecent(session, tally.job_id));
    KSANA_TRY_VOID(query.Again()
                       .Int(tally.runs)
                       .Int(tally.failures_reset ? 1 : 0)
                       .Int(tally.failures)
                       .Time(tally.last_run_at)
                       .Enum(tally.last_state)
                       .Text(tally.last_error)
                       .Int(note.moves ? 1 : 0)
                       .Text(note.text)
                       .Text(tally.job_id)
                       .Run());
    return ListUnlessNoted(session, tally.job_id, tally.ended, note);
}

Result<void> NoteFinalRun(ReadSession& session, const Run& run, std::int64_t seq) {
    Note note;
    note.Add(seq);
    if (note.moves) KSANA_TRY_VOID(MoveRecent(session, run.job_id));
    KSANA_TRY_VOID(session.connection.Prepared(Sql::kAddRecent)
                       .Int(note.moves ? 1 : 0)
                       .Text(note.text)
                       .Text(run.job_id)
                       .Run());
    return ListUnlessNoted(session, run.job_id, {{run.id, *run.status.finished_at}}, note);
}

}  // namespace

Result<void> AddTallyRows(WriteSession& session, const std::vector<JobTally>& tallies) {
    Query query = session.connection.Prepared(Sql::kAddTally);
    for (const JobTally& tally : tallies) KSANA_TRY_VOID(AddTallyRow(session, query, tally));
    return {};
}

Result<void> NoteFinalRuns(WriteSession& session, const store_kit::RunRefs& runs,
                           const std::vector<std::int64_t>& seqs) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Run& run = *runs[i];
        if (!HasFinalAt(run) || session.noted.Erase(run.id)) continue;
        KSANA_TRY_VOID(NoteFinalRun(session, run, seqs[i]));
    }
    return {};
}

Result<void> ListEndedRun(WriteSession& session, const Run& run, std::int64_t seq) {
    if (!HasFinalAt(run)) return {};
    return InsertListed(session, run.job_id, {run.id, *run.status.finished_at}, seq);
}

Result<void> UnlistRun(WriteSession& session, const Run& run) {
    if (!HasFinalAt(run)) return {};
    const auto unlist = [&] {
        return session.connection.Prepared(Sql::kUnlistRun).Text(run.job_id).Id(run.id).Run();
    };
    KSANA_TRY_VOID(unlist());
    if (session.connection.last_changes() != 0) return {};
    KSANA_TRY_VOID(ListRecentRuns(session, run.job_id));
    return unlist();
}

Result<void> ListRecentRuns(ReadSession& session, const std::string& job_id) {
    KSANA_TRY_VOID(MoveRecent(session, job_id));
    return session.connection.Prepared(Sql::kClearRecent).Text(job_id).Run();
}

}  // namespace ksana::store_sqlite
