#include "ksana/store_sqlite/rows/packed_job.hpp"

#include <utility>

#include "ksana/store_kit/driver/job_definition.hpp"
#include "ksana/store_kit/driver/pack_reader.hpp"
#include "ksana/store_kit/driver/pack_writer.hpp"

namespace ksana::store_sqlite {
namespace {

using model::Job;
using store_kit::PackReader;
using store_kit::PackWriter;

// First byte of a packed job; JSON begins with a brace.
constexpr char kJobVersion = 1;
constexpr char kJson = '{';

constexpr auto kItself = [](auto& io, auto& item) { io.Value(item); };

// Reads or writes every member of a job. The order is that of stored bytes: a new member goes to
// the end, or databases of earlier versions are misread.
template <class Io, class AnyJob>
void VisitJob(Io& io, AnyJob& job) {
    static const Job kPlain;
    io.Value(job.id);
    io.Value(job.name);
    io.Field(job.tenant, kPlain.tenant);
    io.Field(job.group, kPlain.group);
    io.Field(job.owner, {});
    io.Field(job.description, {});
    io.Field(job.labels, {});
    io.Field(job.paused_reason, {});
    io.Flag(job.enabled);
    io.Field(job.overlap, kPlain.overlap);
    io.Field(job.run_log, kPlain.run_log);
    io.Field(job.priority, kPlain.priority);
    io.Field(job.misfire.policy, kPlain.misfire.policy);
    io.Field(job.misfire.max_runs, kPlain.misfire.max_runs);
    io.Field(job.misfire.grace, kPlain.misfire.grace);
    io.Field(job.timeout, {});
    io.Field(job.stop_grace, kPlain.stop_grace);
    io.Each(job.depends_on, [](auto& part, auto& dependency) {
        part.Value(dependency.job_id);
        part.Value(dependency.on_failure);
    });
    io.Field(job.max_wait, kPlain.max_wait);
    io.Field(job.placement.require, {});
    io.Field(job.placement.prefer, {});
    io.Field(job.placement.sticky, {});
    io.Field(job.placement.prefer_for, {});
    io.Flag(job.placement.broadcast);
}

template <class Io, class AnySpec>
void VisitSchedule(Io& io, AnySpec& spec) {
    static const schedule::ScheduleSpec kPlain;
    io.Value(spec.kind);
    io.Field(spec.dialect, kPlain.dialect);
    io.Field(spec.day_match, kPlain.day_match);
    io.Field(spec.dst.gap, kPlain.dst.gap);
    io.Field(spec.dst.fold, kPlain.dst.fold);
    io.Field(spec.run_at, {});
    io.Field(spec.every, {});
    io.Field(spec.cron, {});
    io.Field(spec.zone, kPlain.zone);
    io.Field(spec.start_at, {});
    io.Field(spec.end_at, {});
    io.Field(spec.jitter, {});
    io.Field(spec.calendar, {});
    io.Field(spec.on, kPlain.on);
    io.Field(spec.join, kPlain.join);
    io.Each(spec.jobs, kItself);
}

template <class Io, class AnyPolicy>
void VisitRetry(Io& io, AnyPolicy& retry) {
    static const model::RetryPolicy kPlain;
    io.Field(retry.strategy, kPlain.strategy);
    io.Field(retry.max_retries, kPlain.max_retries);
    io.Field(retry.interval, kPlain.interval);
    io.Each(retry.sequence, kItself);
    io.Field(retry.max_interval, kPlain.max_interval);
    io.Field(retry.jitter, kPlain.jitter);
}

// One overload for each kind of action.
struct ActionVisitor {
    template <class Io, class Http>
    requires requires(Http& action) { action.url; }
    static void Visit(Io& io, Http& action) {
        io.Value(action.url);
        io.Field(action.method, HttpMethod::kGet);
        io.Field(action.headers, {});
        io.Field(action.body, {});
        io.Field(action.sign_as, {});
    }
    template <class Io, class Command>
    requires requires(Command& action) { action.argv; }
    static void Visit(Io& io, Command& action) {
        io.Each(action.argv, kItself);
        io.Field(action.environment, {});
        io.Field(action.working_directory, {});
        io.Flag(action.shell);
        io.Each(action.inherit, kItself);
        io.Field(action.user, {});
        io.Field(action.group, {});
        io.Field(action.limits.cpu, {});
        io.Field(action.limits.memory, {});
        io.Field(action.limits.files, {});
        io.Field(action.limits.processes, {});
        io.Field(action.limits.file_size, {});
        io.Field(action.limits.core, {});
        io.Each(action.permanent_exit_codes, kItself);
        io.Field(action.output_limit, model::kDefaultOutputLimit);
    }
    template <class Io, class Handler>
    requires requires(Handler& action) { action.handler; }
    static void Visit(Io& io, Handler& action) {
        io.Value(action.handler);
        io.Field(action.input, {});
    }
    template <class Io, class Queue>
    requires requires(Queue& action) { action.category; }
    static void Visit(Io& io, Queue& action) {
        io.Value(action.type);
        io.Field(action.category, {});
        io.Field(action.payload, {});
    }
};

// Returns an empty action of this kind.
template <std::size_t... I>
model::Action EmptyAction(model::ActionKind kind, std::index_sequence<I...>) {
    model::Action action;
    const auto number = static_cast<std::size_t>(kind);
    ((number == I ? static_cast<void>(action.emplace<I>()) : void()), ...);
    return action;
}

// Reads one part and leaves the rest in `rest`. Returns false if the part is damaged.
template <class Visit>
bool ReadPart(std::string_view& rest, const Visit& visit) {
    if (rest.empty()) return false;
    PackReader reader(rest);
    visit(reader);
    rest = reader.rest();
    return reader.ended();
}

bool ReadParts(std::string_view rest, Job& job) {
    auto kind = model::ActionKind::kHttp;
    bool has_retry = false;
    const bool ok = ReadPart(rest, [&](PackReader& io) {
        io.Value(kind);
        io.Flag(has_retry);
        VisitJob(io, job);
    });
    if (!ok) return false;
    if (!ReadPart(rest, [&](PackReader& io) { VisitSchedule(io, job.schedule); })) return false;
    job.action = EmptyAction(kind, std::make_index_sequence<std::variant_size_v<model::Action>>{});
    const auto read_action = [&](PackReader& io) {
        std::visit([&](auto& action) { ActionVisitor::Visit(io, action); }, job.action);
    };
    if (!ReadPart(rest, read_action)) return false;
    const auto read_retry = [&](PackReader& io) { VisitRetry(io, job.retry.emplace()); };
    if (has_retry && !ReadPart(rest, read_retry)) return false;
    return rest.empty();
}

}  // namespace

std::string PackJob(const Job& job) {
    std::string out(1, kJobVersion);
    {
        PackWriter io(out, true);
        io.Value(KindOf(job.action));
        io.Flag(job.retry.has_value());
        VisitJob(io, job);
    }
    {
        PackWriter io(out, true);
        VisitSchedule(io, job.schedule);
    }
    {
        PackWriter io(out, true);
        std::visit([&](const auto& action) { ActionVisitor::Visit(io, action); }, job.action);
    }
    if (job.retry) {
        PackWriter io(out, true);
        VisitRetry(io, *job.retry);
    }
    return out;
}

Result<void> UnpackJob(std::string_view packed, Job& job) {
    if (!packed.empty() && packed.front() == kJson) {
        KSANA_TRY(job, store_kit::DefinitionFromText(packed));
        return {};
    }
    if (packed.empty() || packed.front() != kJobVersion || !ReadParts(packed.substr(1), job)) {
        return Error(Code::kDataLoss, "it is damaged, or made by another version");
    }
    return {};
}

}  // namespace ksana::store_sqlite
