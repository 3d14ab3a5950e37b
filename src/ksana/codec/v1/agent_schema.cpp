#include "ksana/base/text/names.hpp"
#include "ksana/codec/records/run_fields.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/codec/v1/agent_codec.hpp"
#include "ksana/model/run/attempt_log.hpp"
#include "ksana/model/validate.hpp"

// Schemas of the bodies and answers of the agent protocol, which agent_codec.cpp reads and writes.

namespace ksana::codec {
namespace {

Schema Identifier() { return Schema::Text().Between(1, kMaxIdentifierLength); }

Schema Identifiers() { return Schema::ListOf(Identifier()).AtMost(model::kMaxFilterNames); }

ObjectSchema& PutClaim(ObjectSchema& out) {
    return out.May("types", Identifiers().Means("Any of these; none: all."))
        .May("categories", Identifiers().Means("Any of these; none: all."))
        .May("tenant", Identifier().Means("Only of this one."))
        .May("creator", Schema::Text().AtMost(model::kMaxNameLength).Means("Only by this one."))
        .May("labels",
             Schema::Texts().Means("A run with a selector goes only to agents with all of these."))
        .May("incarnation",
             Schema::Id().Means(
                 "Of a registered worker, whose labels then count; absent: an agent."))
        .May("kinds", Schema::ListOf(Schema::Name<model::ActionKind>())
                          .Means("What a registered worker wants now; absent: queue."))
        .May("max", Schema::Int().Between(1, model::kMaxClaim).Default("1").Means("Runs at most."))
        .May("lease", Schema::Length().Default("30s").Means("1s to 24h."))
        .May("wait", Schema::Length().Default("0s").Means(
                         "Up to 60s for a first run; 0s: the answer comes at once."));
}

Schema MakeClaim() {
    ObjectSchema claim("Which runs an agent wants.");
    claim.Need("worker", Identifier().Means("Who asks; the owner of what it gets."));
    return PutClaim(claim).Example(
        R"({"worker": "mailer-1", "types": ["mail"], "lease": "30s", "wait": "10s"})");
}

Schema MakeClaimedRun() {
    const auto run = DescribeAll<model::Run>(true);
    const auto status = DescribeAll<model::RunStatus>(true);
    return ObjectSchema("What an agent needs to work on a run.")
        .Need("run_id", run.Member("id"))
        .NeedOf(status, {"exec_id", "fence"})
        .NeedOf(run, {"type", "category", "tenant", "creator", "priority"})
        .NeedOf(status, {"attempt"})
        .Need("payload", Schema().Means("As it was submitted; null where there was none."))
        .Need("timeout", Schema::Length().Means("Of one attempt."))
        .Need("deadline_in",
              Schema::Number().Means("Seconds until the attempt has taken too long."))
        .Need("lease_expires_in",
              Schema::Number().Means(
                  "Seconds until the run goes to another agent, without a heartbeat."))
        .Need("traceparent", Schema::Text().Means("W3C trace context of the attempt."))
        .MayOf(run, {"parent", "job_id", "nominal_at"})
        .NeedOf(run, {"kind"})
        .May("run", Schema().Means("Of other kinds than queue: the record, as export writes it."))
        .May("job", Schema().Means("Of other kinds than queue: the job, as GET /jobs shows it."));
}

constexpr NamedSchema kClaimedRun{"ClaimedRun", &MakeClaimedRun};

Schema ClaimedRuns() {
    return Schema::ListOf(Schema::Ref(kClaimedRun)).AtMost(model::kMaxClaim).Means("The runs.");
}

Schema WorkerDirectives() {
    return Schema::ListOf(Schema::OneOf({"drain"}))
        .Means("drain: a user wants the worker to take no more runs.");
}

Schema MakeClaimedRuns() {
    return ObjectSchema("Runs that are the worker's until their lease or deadline ends.")
        .Need("runs", ClaimedRuns())
        .May("directives", WorkerDirectives());
}

Schema ExecId() {
    return Schema::Text()
        .Between(1, model::kMaxExecIdLength)
        .Means("Of the attempt, as the claim told it.");
}

Schema Log() {
    return Schema::ListOf(Schema::Text().AtMost(model::kMaxLogLine))
        .AtMost(model::kMaxLogLines)
        .Means("Lines that are kept with the attempt, the last 64 KB of them.");
}

ObjectSchema& PutHeartbeat(ObjectSchema& out) {
    return out.May("lease", Schema::Length().Default("30s").Means("From now on; 1s to 24h."))
        .May("progress", Schema::Int().Between(0, 100).Means("Percent that are done."))
        .May("note", Schema::Text().AtMost(model::kMaxNoteLength).Means("What is being done."));
}

ObjectSchema& PutDetail(ObjectSchema& out) {
    return out.May("detail", Schema().Means("An object that is kept with the attempt: answer, exit "
                                            "code, output; up to 1 MiB."));
}

ObjectSchema& PutSuccess(ObjectSchema& out) {
    return out.May("result", Schema().Means("Any JSON, up to 1 MiB."))
        .May("callback", Schema::Flag().Default("true").Means(
                             "false: the agent has told the receivers itself."));
}

ObjectSchema& PutFailure(ObjectSchema& out, bool needed) {
    const Schema error = ObjectSchema("Cut where it is longer than 4,000 bytes (stack: 32 KB).")
                             .May("type", Schema::Text().Means("Kind of the error."))
                             .Need("message", Schema::Text().Means("What went wrong."))
                             .May("stack", Schema::Text().Means("Where it went wrong."));
    const Schema after = ObjectSchema().Need("after", Schema::Length().Means("Not before."));
    return out.Add("error", error, needed)
        .May("retry",
             Schema::Either(Schema::OneOf({"default", "no"}), after)
                 .Means("default: by the run's policy; no: it is over; after: not before."));
}

Schema After() { return Schema::Length().Means("How much later."); }

// Schema of a report that is a request of its own.
template <class Put>
Schema Report(std::string_view means, std::string_view example, const Put& put) {
    ObjectSchema report(means);
    report.Need("exec_id", ExecId());
    put(report);
    return report
        .May("worker", Identifier().Means("Who reports: refused if another one has the run. "
                                          "Needed for runs of other kinds than queue."))
        .May("log", Log())
        .Example(example);
}

Schema MakeHeartbeat() {
    return Report("The agent still works on the run.",
                  R"({"exec_id": "0f3a", "progress": 50, "log": ["half of it"]})",
                  [](ObjectSchema& out) { PutHeartbeat(out); });
}
Schema MakeSuccess() {
    return Report("The run is done.", R"({"exec_id": "0f3a", "result": {"sent": true}})",
                  [](ObjectSchema& out) { PutDetail(PutSuccess(out)); });
}
Schema MakeFailure() {
    return Report("The attempt failed.",
                  R"({"exec_id": "0f3a", "error": {"message": "no route to host"}})",
                  [](ObjectSchema& out) { PutDetail(PutFailure(out, true)); });
}
Schema MakeSnooze() {
    return Report("The agent wants the run later.", R"({"exec_id": "0f3a", "after": "5m"})",
                  [](ObjectSchema& out) { out.Need("after", After()); });
}
Schema MakeRelease() {
    return Report("The agent gives the run back.", R"({"exec_id": "0f3a"})",
                  [](ObjectSchema& /*out*/) {});
}

Schema MakeReport() {
    ObjectSchema report(
        "With the members that the outcome has as a call of its own, and no "
        "others.");
    report.Need("run_id", Schema::Id().Means("The run that it is about."));
    report.Need("exec_id", ExecId());
    report.Need("outcome", Schema::Name<model::AgentOutcome>().Means("What the report says."));
    PutDetail(PutSuccess(PutHeartbeat(report)));
    return PutFailure(report, false).May("after", After()).May("log", Log());
}

constexpr NamedSchema kReport{"AgentReport", &MakeReport};

Schema MakeExchange() {
    ObjectSchema claim("Which runs the agent wants next; absent: none.");
    PutClaim(claim);
    return ObjectSchema("Reports, and the next claim.")
        .Need("worker", Identifier().Means("Who asks."))
        .May("reports", Schema::ListOf(Schema::Ref(kReport))
                            .AtMost(model::kMaxReports)
                            .Means("About runs that the agent has."))
        .May("claim", claim)
        .Example(R"({"worker": "mailer-1", "claim": {"types": ["mail"], "max": 10}})");
}

Schema Directives() {
    return Schema::ListOf(Schema::OneOf({"cancel", "drain"}))
        .Means(
            "cancel: stop this run and report how it ended; drain: fetch nothing more here for "
            "now.");
}

Schema MakeDirectives() {
    return ObjectSchema("What the server answers to a heartbeat.")
        .Need("lease_expires_in", Schema::Number().Means("Seconds until the lease ends."))
        .Need("directives", Directives());
}

Schema MakeExchanged() {
    const Schema answer =
        ObjectSchema()
            .Need("run_id", Schema::Id().Means("The run of the report."))
            .Need("verdict", Schema::OneOf({"ok", "stale", "refused", "not_found"})
                                 .Means("ok: taken, now or before; stale: the attempt is over or "
                                        "another's; refused: it contradicts the report before. "
                                        "Nothing was changed but by ok."))
            .May("reason", Schema::Text().Means("Why it was not taken."))
            .May("directives", Directives());
    return ObjectSchema("What became of each report, in order, and what was claimed.")
        .Need("reports", Schema::ListOf(answer)
                             .AtMost(model::kMaxReports)
                             .Means("One for each report, in order."))
        .Need("runs", ClaimedRuns())
        .May("directives", WorkerDirectives());
}

}  // namespace

const NamedSchema kAgentClaimSchema{"AgentClaim", &MakeClaim};
const NamedSchema kClaimedRunsSchema{"ClaimedRuns", &MakeClaimedRuns};
const NamedSchema kAgentHeartbeatSchema{"AgentHeartbeat", &MakeHeartbeat};
const NamedSchema kAgentDirectivesSchema{"AgentDirectives", &MakeDirectives};
const NamedSchema kAgentSuccessSchema{"AgentSuccess", &MakeSuccess};
const NamedSchema kAgentFailureSchema{"AgentFailure", &MakeFailure};
const NamedSchema kAgentSnoozeSchema{"AgentSnooze", &MakeSnooze};
const NamedSchema kAgentReleaseSchema{"AgentRelease", &MakeRelease};
const NamedSchema kAgentExchangeSchema{"AgentExchange", &MakeExchange};
const NamedSchema kAgentExchangedSchema{"AgentExchanged", &MakeExchanged};

}  // namespace ksana::codec
