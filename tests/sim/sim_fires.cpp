#include "sim/sim_fires.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/hash.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::sim {

using model::FireFate;
using model::Job;
using model::LedgerRange;
using schedule::Schedule;
using schedule::ScheduleKind;

namespace {

constexpr Duration kTick{1};

bool Covers(const schedule::FireRange& range, TimePoint nominal) {
    return range.first <= nominal && nominal <= range.last;
}

bool FiresDiffer(const Job& before, const Job& after) {
    return before.schedule != after.schedule || before.enabled != after.enabled;
}

}  // namespace

void FireChecks::Fail(std::string_view invariant, const std::string& job_id, std::string what) {
    world_.Fail({.invariant = std::string(invariant),
                 .what = std::move(what),
                 .job_id = job_id,
                 .run_id = {}});
}

Schedule FireChecks::Compile(const Job& job) {
    auto compiled = Schedule::Compile(
        job.schedule, {.zones = zones_, .created_at = job.state.created_at, .find_calendar = {}});
    KSANA_CHECK(compiled.has_value(), "a job with a bad schedule was stored");
    return *std::move(compiled);
}

void FireChecks::OnCommit(const Commit& commit) {
    std::map<std::string, Touched> touched;
    for (const Job& job : commit.jobs_inserted) touched[job.id].inserted = &job;
    for (const Job& job : commit.jobs_updated) touched[job.id].updated = &job;
    for (const auto& planned : commit.jobs_planned) touched[planned.id].planned = &planned;
    for (const Commit::RunChange& change : commit.runs) {
        if (change.how != Commit::How::kInserted || !change.run.nominal_at) continue;
        if (!touched[change.run.job_id].runs.insert(*change.run.nominal_at).second) {
            Fail("I2", change.run.job_id, "one fire became two runs in one commit");
        }
    }
    for (const auto& entry : commit.ledger) touched[entry.job_id].ranges.push_back(entry.range);
    for (const auto& [id, what] : touched) {
        if (what.inserted != nullptr) {
            Insert(*what.inserted, what);
        } else if (what.updated != nullptr) {
            Update(*what.updated, what);
        } else if (what.planned != nullptr) {
            Planned(*what.planned, what);
        } else {
            Fail("I2", id, "a run or an entry for a fire that nobody planned");
        }
    }
    for (const std::string& id : commit.jobs_deleted) Delete(id);
}

// Adds the fires in (after, until], one by one.
void FireChecks::AddDue(std::vector<Due>& due, const Book& book, TimePoint after, TimePoint until,
                        TimePoint now) const {
    const Job& job = book.job;
    for (auto next = book.schedule.Next(after); next && *next <= until;
         next = book.schedule.Next(*next)) {
        const TimePoint start = book.schedule.WithJitter(job.id, *next);
        due.push_back({.nominal = *next,
                       .paused = !job.enabled,
                       .late = start < now - job.misfire.grace,
                       .policy = job.misfire.policy});
    }
}

void FireChecks::Insert(const Job& job, const Touched& touched) {
    world_.Note(job.id, 11, [&] {
        return fmt::format("job made: enabled {} next {} planned until {}", job.enabled,
                           job.state.next_run_at ? FormatTime(*job.state.next_run_at) : "-",
                           job.state.planned_until ? FormatTime(*job.state.planned_until) : "-");
    });
    if (books_.contains(job.id)) return Fail("I3", job.id, "a job was made a second time");
    gone_.erase(job.id);
    Book& book = books_.emplace(job.id, Book{job, Compile(job), {}, {}, 0}).first->second;
    std::vector<Due> due;
    const bool once = job.schedule.kind == ScheduleKind::kOnce;
    const TimePoint begin =
        once ? std::min(job.state.created_at, job.schedule.run_at - kTick) : job.state.created_at;
    if (job.enabled) AddDue(due, book, begin, job.state.created_at, job.state.created_at);
    Account(book, due, touched);
    CheckNext(book);
}

// First accounts for the fires of the old definition, then for the new one. A `once` that is moved
// into the past is due at once, if that time is not accounted for yet.
void FireChecks::Update(const Job& job, const Touched& touched) {
    const auto found = books_.find(job.id);
    if (found == books_.end()) return Fail("I3", job.id, "a job that is not there was changed");
    Book& book = found->second;
    const TimePoint now = job.state.updated_at;
    world_.Note(job.id, 12, [&] {
        return fmt::format(
            "job changed: enabled {} next {} planned until {}, {} runs {} ranges", job.enabled,
            job.state.next_run_at ? FormatTime(*job.state.next_run_at) : "-",
            FormatTime(*job.state.planned_until), touched.runs.size(), touched.ranges.size());
    });
    std::vector<Due> due;
    const bool differ = FiresDiffer(book.job, job);
    const bool moved = book.job.schedule != job.schedule;
    const TimePoint before = *book.job.state.planned_until;
    const bool once = job.schedule.kind == ScheduleKind::kOnce;
    if (differ) AddDue(due, book, before, now, now);
    const bool back = *job.state.planned_until < before;
    if (back && !(once && moved)) Fail("I2", job.id, "planned_until went back");
    book.job = job;
    if (moved) book.schedule = Compile(job);
    const bool known = IsCovered(book, job.schedule.run_at) ||
                       std::ranges::any_of(
                           due, [&](const Due& one) { return one.nominal == job.schedule.run_at; });
    if (moved && once && job.enabled && !known && job.schedule.run_at <= now) {
        AddDue(due, book, job.schedule.run_at - kTick, now, now);
    }
    Account(book, due, touched);
    CheckNext(book);
}

void FireChecks::Planned(const Commit::JobPlanned& planned, const Touched& touched) {
    const auto found = books_.find(planned.id);
    if (found == books_.end()) return Fail("I3", planned.id, "a job that is not there was planned");
    Book& book = found->second;
    const TimePoint now = world_.store_clock().Now();
    world_.Note(planned.id, 13, [&] {
        return fmt::format("node{} planned until {}, next {}, {} runs {} ranges", world_.actor(),
                           FormatTime(*planned.planned_until),
                           planned.next_run_at ? FormatTime(*planned.next_run_at) : "-",
                           touched.runs.size(), touched.ranges.size());
    });
    if (book.job.schedule.kind == ScheduleKind::kAfter) return Followed(book, planned, touched);
    if (!book.job.enabled) Fail("I1", planned.id, "a paused job was planned");
    if (*planned.planned_until < *book.job.state.planned_until) {
        Fail("I2", planned.id, "planned_until went back");
    }
    std::vector<Due> due;
    AddDue(due, book, *book.job.state.planned_until, *planned.planned_until, now);
    book.job.state.planned_until = planned.planned_until;
    book.job.state.next_run_at = planned.next_run_at;
    Account(book, due, touched);
    CheckNext(book);
}

// A fire that followed the end of another job's run; GraphChecks knows whether there should be one.
void FireChecks::Followed(Book& book, const Commit::JobPlanned& planned, const Touched& touched) {
    for (const TimePoint nominal : touched.runs) {
        const bool fresh = nominal > *book.job.state.planned_until;
        if (!fresh || nominal > *planned.planned_until) {
            Fail("I2", planned.id, "a fire that followed another job has a time that was taken");
        }
    }
    for (const LedgerRange& range : touched.ranges) {
        if (range.fate != FireFate::kSkippedPaused || book.job.enabled) {
            Fail("I16", planned.id, "a fire that followed another job: paused or not is wrong");
        }
        book.ranges.push_back(range.range);
    }
    book.job.state.planned_until = planned.planned_until;
    book.job.state.next_run_at = planned.next_run_at;
    book.entries += touched.ranges.size();
    book.ran.insert(touched.runs.begin(), touched.runs.end());
    fires_ += static_cast<std::int64_t>(touched.runs.size() + touched.ranges.size());
    CheckNext(book);
}

void FireChecks::Delete(const std::string& id) {
    world_.Note(id, 14, [] { return std::string("job deleted"); });
    if (!may_go_.contains(id)) Fail("I3", id, "a job was deleted that nobody wanted deleted");
    books_.erase(id);
    gone_.insert(id);
}

bool FireChecks::IsCovered(const Book& book, TimePoint nominal) {
    return book.ran.contains(nominal) || std::ranges::any_of(book.ranges, [&](const auto& range) {
               return Covers(range, nominal);
           });
}

// Checks that the due fires and the written ones are the same: each in one place, and no others.
void FireChecks::Account(Book& book, const std::vector<Due>& due, const Touched& touched) {
    const std::string& id = book.job.id;
    for (const TimePoint nominal : touched.runs) {
        const auto is_it = [&](const Due& one) { return one.nominal == nominal; };
        if (book.ran.contains(nominal)) Fail("I2", id, "a fire became two runs");
        if (std::ranges::none_of(due, is_it)) {
            Fail("I2", id,
                 fmt::format("a run at {}, which is no fire of the job's schedule that is due: a "
                             "fire ran a second time under another name",
                             FormatTime(nominal)));
        }
    }
    for (const Due& fire : due) AccountOne(book, fire, touched);
    for (const LedgerRange& range : touched.ranges) {
        const auto inside = std::ranges::count_if(
            due, [&](const Due& one) { return Covers(range.range, one.nominal); });
        if (inside != range.range.count) {
            Fail("I16", id,
                 fmt::format("an entry of {} {} fires, the schedule has {} there",
                             range.range.count, model::NameOf(range.fate), inside));
        }
        book.ranges.push_back(range.range);
        fires_ += range.range.count;
    }
    book.entries += touched.ranges.size();
    book.ran.insert(touched.runs.begin(), touched.runs.end());
    fires_ += static_cast<std::int64_t>(touched.runs.size());
}

void FireChecks::AccountOne(const Book& book, const Due& fire, const Touched& touched) {
    const std::string& id = book.job.id;
    const bool runs = touched.runs.contains(fire.nominal);
    const LedgerRange* entry = nullptr;
    int places = runs ? 1 : 0;
    for (const LedgerRange& range : touched.ranges) {
        if (!Covers(range.range, fire.nominal)) continue;
        entry = &range;
        ++places;
    }
    const std::string when = FormatTime(fire.nominal);
    if (places == 0 && !book.ran.contains(fire.nominal)) {
        return Fail("I1", id, fmt::format("the fire of {} is in no entry and no run", when));
    }
    if (places > 1) Fail("I2", id, fmt::format("the fire of {} has two entries", when));
    const bool paused = entry != nullptr && entry->fate == FireFate::kSkippedPaused;
    if (places == 1 && paused != fire.paused) {
        Fail("I16", id, fmt::format("the fire of {}: paused or not is wrong", when));
    }
    if (entry != nullptr && entry->fate == FireFate::kMissed && !fire.late) {
        Fail("I16", id, fmt::format("the fire of {} is missed although it was on time", when));
    }
    if (runs && fire.late && fire.policy == model::MisfirePolicy::kSkip) {
        Fail("I16", id, fmt::format("the fire of {} ran although it was too late", when));
    }
}

void FireChecks::CheckNext(const Book& book) {
    std::optional<TimePoint> expected;
    if (book.job.enabled) expected = book.schedule.Next(*book.job.state.planned_until);
    if (book.job.state.next_run_at == expected) return;
    const auto text = [](const std::optional<TimePoint>& time) {
        return time ? FormatTime(*time) : std::string("never");
    };
    Fail("I1", book.job.id,
         fmt::format("next_run_at is {}, the schedule says {}", text(book.job.state.next_run_at),
                     text(expected)));
}

void FireChecks::Acknowledged(const Job& job) {
    const Job* there = Find(job.id);
    if (there == nullptr ? !gone_.contains(job.id) : there->state.version < job.state.version) {
        Fail("I3", job.id, "an acknowledged job is not in the store");
    }
}

const Job* FireChecks::Find(const std::string& id) const {
    const auto found = books_.find(id);
    return found == books_.end() ? nullptr : &found->second.job;
}

std::vector<std::string> FireChecks::Ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, book] : books_) ids.push_back(id);
    return ids;
}

void FireChecks::CompareWith(store::Store& store) {
    const auto stored = store.jobs().GetMany(Ids());
    KSANA_CHECK(stored.has_value(), "the store itself does not fail");
    if (stored->size() != books_.size()) Fail("I3", {}, "a job is missing in the store");
    for (const Job& job : *stored) {
        const Book& book = books_.at(job.id);
        if (job.state.version != book.job.state.version ||
            job.state.planned_until != book.job.state.planned_until ||
            job.state.next_run_at != book.job.state.next_run_at ||
            job.schedule != book.job.schedule) {
            Fail("I3", job.id, "the stored job is not what was committed");
        }
        const auto entries = store.jobs().Ledger({.job_id = job.id,
                                                  .from = {},
                                                  .until = {},
                                                  .limit = store::kMaxPageSize,
                                                  .cursor = {}});
        if (entries && entries->next.empty() && entries->items.size() != book.entries) {
            Fail("I1", job.id, "ledger entries are missing in the store");
        }
    }
}

void FireChecks::CheckPlannedUpTo(TimePoint due) {
    for (const auto& [id, book] : books_) {
        if (!book.job.state.next_run_at || *book.job.state.next_run_at > due) continue;
        Fail("I1", id,
             fmt::format("the fire of {} is not accounted for",
                         FormatTime(*book.job.state.next_run_at)));
    }
}

}  // namespace ksana::sim
