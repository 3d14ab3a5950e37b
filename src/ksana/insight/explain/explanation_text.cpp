#include "ksana/insight/explain/explanation_text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/local_time.hpp"

namespace ksana::insight {
namespace {

using model::FireFate;
using model::RunState;

// Rounds to milliseconds, for readability.
std::string Span(Duration duration) {
    return FormatDuration(std::chrono::round<std::chrono::milliseconds>(duration));
}

// Writes the sentence of one explanation. Each verdict has its own function.
class SentenceWriter {
  public:
    SentenceWriter(const ExplainCase& c, const Explanation& e) : c_(c), e_(e) {}

    std::string Tell() const {
        std::string text = Main();
        if (e_.fire && e_.fire->dst != schedule::DstNote::kNone) {
            text += fmt::format(" ({})", schedule::DstNoteText(e_.fire->dst));
        }
        if (e_.snapped) text += fmt::format("; {} was asked for", T(e_.asked_at));
        return text + ".";
    }

  private:
    std::string T(TimePoint at) const { return schedule::LocalTimeText(*c_.zone, at); }
    std::string Name() const { return fmt::format("The fire of {}", e_.fire->local); }

    std::string Main() const {
        switch (e_.verdict) {
            case Verdict::kRan:
                return fmt::format("{} ran in time and {}", Name(), Ending());
            case Verdict::kRanLate:
                return Late();
            case Verdict::kRetried:
                return fmt::format("{} ran in time, took {} attempts and {}", Name(),
                                   e_.run->attempts, Ending());
            case Verdict::kRunning:
                return Running();
            case Verdict::kWaiting:
                return fmt::format("{} waits: {}", Name(), WaitText());
            case Verdict::kMissed:
                return Missed();
            case Verdict::kSkippedOverlap:
                return Overlap();
            case Verdict::kSkippedPaused:
                return fmt::format("{} was skipped because the job was paused{}", Name(), ByWhom());
            case Verdict::kSkippedCalendar:
                return fmt::format("{} was skipped because {}", Name(), CalendarText());
            case Verdict::kSkippedLock:
                return fmt::format("{} was skipped because its lock was held elsewhere", Name());
            case Verdict::kSkippedDependency:
                return fmt::format("{} was skipped because {}", Name(),
                                   e_.run->error.empty()
                                       ? "a job that it depends on had not succeeded"
                                       : e_.run->error);
            case Verdict::kSkippedNoWorker:
                return fmt::format(
                    "{} was skipped because it is a broadcast and no live worker served it",
                    Name());
            case Verdict::kCancelled:
                return Cancelled();
            case Verdict::kNotAFire:
                return NoFire();
            case Verdict::kWillRun:
                return WillRun();
            case Verdict::kWillBeSkipped:
                return WillBeSkipped();
            case Verdict::kNotPlannedYet:
                return NotPlanned();
            case Verdict::kPurged:
                return Purged();
            case Verdict::kUnknownJob:
                break;
        }
        return fmt::format("There is no job \"{}\"{}", Printable(Excerpt(e_.job_id, 80)),
                           e_.actor ? ", it was deleted" + ByWhom() : "");
    }

    // Returns ` by ann at … ("reason")`, or the parts of it that are known.
    std::string ByWhom() const {
        if (!e_.actor) return "";
        std::string text;
        if (!e_.actor->user.empty()) text += " by " + e_.actor->user;
        if (e_.actor->at) text += " at " + T(*e_.actor->at);
        if (!e_.actor->reason.empty()) text += fmt::format(" (\"{}\")", e_.actor->reason);
        return text;
    }

    std::string Ending() const {
        const std::string took = e_.run->took ? " after " + Span(*e_.run->took) : "";
        const std::string error = e_.run->error.empty() ? "" : ": " + e_.run->error;
        switch (e_.run->state) {
            case RunState::kSucceeded:
                return "succeeded" + took;
            case RunState::kCompleting:
                return "succeeded" + took + "; its callback is still to be delivered";
            case RunState::kTimedOut:
                return "took too long" + error;
            case RunState::kResolved:
                return "was closed by a person after it had failed" + error;
            default:
                return "failed" + took + error;
        }
    }

    std::string Related() const {
        if (!e_.related) return "an earlier run of the job that is no longer kept";
        const RelatedRun& run = *e_.related;
        const std::string until = run.until ? " until " + T(*run.until) : " and is not over";
        return fmt::format("run {}, which was there from {}{}", run.id.ToString(), T(run.from),
                           until);
    }

    std::string Late() const {
        std::string why;
        switch (e_.reason) {
            case Reason::kOverdue:
                why = fmt::format("the server was down or behind until {}", T(e_.run->created_at));
                break;
            case Reason::kWaitedForRun:
                why = "it had to wait for " + Related();
                break;
            case Reason::kWaitedForLimit:
                why = "a limit or a target that was down was in its way";
                break;
            case Reason::kWaitedForJob:
                why = "a job that it depends on had not succeeded before";
                break;
            default:
                why = "it had to wait for a free slot or worker";
                break;
        }
        return fmt::format("{} started {} late, at {}, because {}; it {}", Name(),
                           Span(*e_.run->late), T(*e_.run->started_at), why, Ending());
    }

    std::string Running() const {
        std::string text = fmt::format("{} is running", Name());
        if (e_.run->started_at) text += " since " + T(*e_.run->started_at);
        if (e_.run->attempts > 1) text += fmt::format(", attempt {}", e_.run->attempts);
        if (e_.run->progress > 0) text += fmt::format(", {} % done", e_.run->progress);
        return text;
    }

    // Returns "group etl" for "group:etl".
    std::string LimitName() const {
        std::string name = e_.limit->key;
        const std::size_t colon = name.find(':');
        if (colon != std::string::npos) name[colon] = ' ';
        return name;
    }

    std::string InFront() const {
        return fmt::format(", and {} {} before it{}", e_.limit->before,
                           e_.limit->before == 1 ? "is" : "are", TriedAgain());
    }

    std::string TriedAgain() const {
        return e_.run->ready_at ? "; it is tried again at " + T(*e_.run->ready_at) : "";
    }

    std::string WaitText() const {
        switch (e_.reason) {
            case Reason::kNotDue:
                return fmt::format("it is to start at {}",
                                   T(e_.run->ready_at.value_or(e_.start_at.value_or(e_.fire->at))));
            case Reason::kRetry:
                return fmt::format("attempt {} failed{}, the next one is at {}", e_.run->attempts,
                                   e_.run->error.empty() ? "" : " (" + e_.run->error + ")",
                                   T(*e_.run->ready_at));
            case Reason::kBlocked:
                return "it starts when another run of its job is over: " + Related();
            case Reason::kDependency:
                return Dependency();
            case Reason::kNoWorker:
                return fmt::format("it is ready since {}, and no live worker serves it",
                                   T(e_.run->ready_at.value_or(e_.fire->at)));
            case Reason::kNoSlot:
                return fmt::format("all {} slots are taken", c_.params.node->slots);
            case Reason::kStartRate:
                return "overdue runs are started a few at a time, and others are before it";
            case Reason::kLimited:
                return fmt::format("the limit of {} is used up{}", LimitName(), InFront());
            case Reason::kBreakerOpen:
                return fmt::format("{} is known to be down{}", LimitName(), TriedAgain());
            case Reason::kBroker:
                return fmt::format(
                    "it is in the queue {} of the message broker, and no consumer has begun it",
                    Printable(e_.limit->key));
            case Reason::kHeld:
                return "a person has to look at it" +
                       (e_.run->error.empty() ? "" : ": " + e_.run->error);
            default:
                return fmt::format("it is ready since {}, and no server or worker has taken it yet",
                                   T(e_.run->ready_at.value_or(e_.fire->at)));
        }
    }

    std::string Dependency() const {
        const DependencyFacts& facts = *e_.dependency;
        std::string text = facts.job_id.empty()
                               ? "a job that it depends on has not succeeded"
                               : fmt::format("job {}, which it depends on, has not succeeded",
                                             Printable(facts.job_id));
        if (facts.since) text += "; it has waited since " + T(*facts.since);
        if (facts.until) text += fmt::format(" and is skipped at {}", T(*facts.until));
        return text;
    }

    std::string Missed() const {
        std::string text = fmt::format("{} was missed: its time had passed", Name());
        if (e_.ledger) {
            text += fmt::format(" when the server came to it at {}", T(e_.ledger->recorded_at));
            if (e_.ledger->count > 1) {
                text += fmt::format(", as for {} fires from {} to {}", e_.ledger->count,
                                    T(e_.ledger->first), T(e_.ledger->last));
            }
        }
        if (e_.misfire) text += fmt::format(" (misfire policy {})", model::NameOf(*e_.misfire));
        return text;
    }

    std::string Overlap() const {
        const std::string policy =
            c_.job ? fmt::format(" (overlap policy {})", model::NameOf(c_.job->overlap)) : "";
        return fmt::format("{} was skipped because of {}{}", Name(), Related(), policy);
    }

    std::string CalendarText() const {
        if (!e_.calendar || e_.calendar->name.empty()) return "a calendar excluded it";
        const std::string rule =
            e_.calendar->rule.empty() ? "" : fmt::format(" ({})", e_.calendar->rule);
        return fmt::format("calendar {} excludes it{}", e_.calendar->name, rule);
    }

    std::string Cancelled() const {
        std::string text = fmt::format("{} was cancelled", Name());
        if (e_.actor) return text + ByWhom();
        if (e_.run->finished_at) text += " at " + T(*e_.run->finished_at);
        if (e_.reason == Reason::kCancelOther) {
            text += " because a later fire took its place: " + Related();
        }
        return text;
    }

    std::string NoFire() const {
        const std::string at = e_.fire ? e_.fire->local : T(e_.asked_at);
        const schedule::ScheduleSpec& spec = c_.job->schedule;
        switch (e_.reason) {
            case Reason::kDstGap:
                return fmt::format(
                    "{} is not a fire: the clocks skipped its time that day, and "
                    "the job's gap policy is skip",
                    at);
            case Reason::kDstFold:
                return fmt::format(
                    "{} is not a fire: its time comes twice that day, and the "
                    "job's fold policy is {}",
                    at, model::NameOf(spec.dst.fold));
            case Reason::kBeforeStart:
                return fmt::format("{} is not a fire: the schedule starts at {}", at,
                                   T(*spec.start_at));
            case Reason::kAfterEnd:
                return fmt::format("{} is not a fire: the schedule ended at {}", at,
                                   T(*spec.end_at));
            case Reason::kBeforeCreated:
                return fmt::format("{} is not a fire: the job was made at {}", at,
                                   T(c_.job->state.created_at));
            case Reason::kScheduleChanged:
                return fmt::format(
                    "{} was not a fire: the job had another schedule before it was "
                    "changed at {}",
                    at, T(c_.job->state.updated_at));
            default:
                if (spec.kind == schedule::ScheduleKind::kAfter) {
                    return fmt::format(
                        "{} is not a fire of this job: it fires after {}, and no end of theirs "
                        "made a fire then",
                        at, Printable(fmt::format("{}", fmt::join(spec.jobs, ", "))));
                }
                return fmt::format("{} is not a fire of this job{}", at, NearestText());
        }
    }

    std::string NearestText() const {
        std::string text;
        if (e_.before) text += ", the one before is " + e_.before->local;
        if (e_.after) text += ", the next one is " + e_.after->local;
        return text;
    }

    std::string WillRun() const {
        const std::string start = e_.start_at ? ", with jitter at " + T(*e_.start_at) : "";
        return fmt::format("{} is to come and will run{}", Name(), start);
    }

    std::string WillBeSkipped() const {
        if (e_.reason == Reason::kCalendar) {
            return fmt::format("{} will be skipped because {}", Name(), CalendarText());
        }
        return fmt::format("{} will be skipped unless the job is resumed: it was paused{}", Name(),
                           ByWhom());
    }

    std::string NotPlanned() const {
        if (e_.reason == Reason::kScheduleBroken) {
            return "The job cannot be planned: " + Printable(Excerpt(c_.schedule_error, 400));
        }
        std::string text = fmt::format(
            "{} was due {} ago and is not planned yet: the server is down or behind, and has come "
            "to {}",
            Name(), Span(e_.now - e_.fire->at), T(c_.PlannedUntil()));
        if (e_.expected == FireFate::kMissed) {
            text +=
                fmt::format("; it will be missed (misfire policy {})", model::NameOf(*e_.misfire));
        } else if (e_.expected) {
            text += "; it will be made up for";
        }
        return text;
    }

    std::string Purged() const {
        switch (e_.reason) {
            case Reason::kRunLog:
                return fmt::format(
                    "{} is over, and the job keeps nothing of its runs (run_log "
                    "none)",
                    Name());
            case Reason::kRetention:
                return fmt::format("{} is too long ago: its history has been deleted by retention",
                                   Name());
            default:
                return fmt::format("{} was accounted for, but its run has been deleted", Name());
        }
    }

    const ExplainCase& c_;
    const Explanation& e_;
};

}  // namespace

std::string Sentence(const ExplainCase& c, const Explanation& explanation) {
    return SentenceWriter(c, explanation).Tell();
}

}  // namespace ksana::insight
