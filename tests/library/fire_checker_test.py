#!/usr/bin/env python3
"""Tests the checker of fires: every planted fault must be found, and what is allowed must not.

usage: fire_checker_test.py [CASE...]
"""
import contextlib

from fire_checker import (History, Line, Periods, Process, Rules, Window, problems_of, read_line,
                          window_of, with_reasons)
from kit.cases import arguments, case, run
from kit.checks import check, contains, equal

RATE, TTL, WORK, PERIODS = 100, 500, 40, 100
ONE, TWO = 1, 2


class Log:
    """Two processes: the first fires 10 ms after the begin of a period and runs, the second at 60
    ms and is refused. The wall clock is the monotonic one plus a whole number of periods."""

    def __init__(self):
        self.rules = Rules(rate=RATE, ttl=TTL, wall=RATE * 1000)
        self.processes = {pid: Process(pid, -RATE) for pid in (ONE, TWO)}
        self.windows = []
        self.until = PERIODS * RATE
        self.lines = []
        for period in range(PERIODS):
            self.ran(ONE, period)
            self.add("skipped", TWO, period, at=62)

    def fire(self, pid, period):
        due = 10 if pid == ONE else 60
        return period * RATE + self.rules.wall + due + self.processes[pid].ahead

    def add(self, event, pid, period, at, reason="lock"):
        self.lines.append(Line(event, self.fire(pid, period), pid, period * RATE + at,
                               reason if event in ("skipped", "failed") else ""))

    def ran(self, pid, period, begin=12, end=None):
        self.add("start", pid, period, begin)
        self.add("end", pid, period, begin + WORK if end is None else end)

    def drop(self, pid, period, event=None):
        kept = [line for line in self.lines
                if (line.pid, line.fire) != (pid, self.fire(pid, period)) or
                event not in (None, line.event)]
        check(len(kept) < len(self.lines), "there is nothing to drop")
        self.lines = kept

    def history(self):
        return History(self.rules, self.processes.values(), self.lines, self.windows, self.until)

    def problems(self):
        return problems_of(self.history())

    def passes(self):
        equal(self.problems(), [], "problems")

    def fails(self, *kinds):
        found = self.problems()
        equal(sorted({problem.partition(":")[0] for problem in found}), sorted(kinds),
              f"kinds of {found}")
        return found

    def takes_over(self, periods):
        """Has the second process run these periods, without lines of the first."""
        for period in periods:
            self.drop(ONE, period)
            self.drop(TWO, period)
            self.ran(TWO, period, begin=62)

    def kill(self, period, at):
        """Kills the first process in its run; the second goes on when the TTL has passed."""
        process = self.processes[ONE]
        process.ended, process.killed = period * RATE + at, True
        self.drop(ONE, period, "end")
        self.windows.append(window_of(self.rules, process.ended))
        for lost in range(period + 1, period + 1 + TTL // RATE):
            self.drop(ONE, lost)
        self.takes_over(range(period + 1 + TTL // RATE, PERIODS))

    def stop(self, period, at, until):
        """Stops the first process in its run until a later period; the second runs after the TTL,
        and the run of the first ends as late."""
        begin = period * RATE + at
        self.processes[ONE].stops.append([begin, until * RATE])
        self.windows.append(window_of(self.rules, begin))
        self.drop(ONE, period, "end")
        self.add("end", ONE, period, (until - period) * RATE + 1)
        for lost in range(period + 1, period + 1 + TTL // RATE):
            self.drop(ONE, lost)
        self.takes_over(range(period + 1 + TTL // RATE, until))


@case
def a_log_without_faults_passes(log):
    log.passes()
    periods = Periods(log.history())
    equal((periods.fires, periods.run, periods.in_windows, periods.held),
          (PERIODS, PERIODS, 0, 0), "counts")
    contains("100 fires, 100 run", str(periods))


@case
def a_line_is_read(_):
    equal(read_line("start 1794981426697 1768 4630894998506"),
          Line("start", 1794981426697, 1768, 4630894.998506), "line")


@case
def a_doubled_fire_is_found(log):
    log.drop(TWO, 50)
    log.ran(TWO, 50, begin=62)
    contains("period 1050 of process 2", log.fails("doubled")[0])


@case
def a_doubled_fire_of_one_process_is_found(log):
    log.ran(ONE, 50, begin=55)
    log.fails("doubled")


@case
def a_fire_of_the_past_is_found(log):
    log.drop(ONE, 50)
    log.ran(ONE, 50, begin=165)
    contains("period 1050 of process 1", log.fails("unordered")[0])


@case
def a_lost_fire_is_found(log):
    log.drop(ONE, 50)
    contains("process 1 says nothing", log.fails("lost")[0])


@case
def a_fire_lost_by_one_alone_is_found(log):
    """The first one was busy with its run before, but the second should have run it."""
    log.drop(ONE, 49, "end")
    log.drop(ONE, 50)
    log.add("end", ONE, 49, at=112)
    log.add("skipped", ONE, 50, at=13, reason="running")
    contains("process 2 skipped it though the lock was free", log.fails("lost")[0])


@case
def a_fire_skipped_during_a_long_run_is_explained(log):
    log.drop(ONE, 49, "end")
    log.drop(ONE, 50)
    log.add("end", ONE, 49, at=170)
    log.add("skipped", ONE, 50, at=71, reason="running")
    log.passes()
    equal(Periods(log.history()).held, 1, "fires during other runs")


@case
def a_slow_release_is_explained(log):
    """The lock is free when the process has something else to say."""
    log.drop(ONE, 50)
    log.add("skipped", ONE, 50, at=71, reason="running")
    log.passes()


@case
def a_process_that_does_nothing_for_long_is_not_running(log):
    for period in range(30, 90):
        log.drop(ONE, period)
        log.add("skipped", ONE, period, at=5991 - (period - 30) * RATE, reason="running")
    contains("process 1 skipped it as running, though it was not", log.fails("lost")[0])


@case
def a_lock_that_its_holder_keeps_after_its_end_is_found(log):
    """The holder asked for it again and was refused itself."""
    log.drop(ONE, 50)
    log.add("skipped", ONE, 50, at=12)
    contains("process 1 skipped it though the lock was free", log.fails("lost")[0])


@case
def reasons_are_read(log):
    lines = [Line("start", 1000, ONE, 1), Line("skipped", 1100, ONE, 2),
             Line("skipped", 1100, TWO, 3), Line("failed", 1200, TWO, 4)]
    said = {ONE: "2026 info  job.started jobId=beat fireTime=1000\n"
                 "2026 info  job.skipped jobId=beat fireTime=1100 reason=running count=2\n",
            TWO: "2026 info  job.skipped jobId=beat fireTime=1100 reason=lock count=1\n"
                 "2026 error job.failed jobId=beat fireTime=1200 duration=7 error=\"no answer\"\n"}
    equal(with_reasons(lines, said, log.rules.rate),
          [Line("start", 1000, ONE, 1), Line("skipped", 1100, ONE, 2, "running"),
           Line("skipped", 1200, ONE, 2, "running"), Line("skipped", 1100, TWO, 3, "lock"),
           Line("failed", 1200, TWO, 4, '"no answer"')],
          "lines")


@case
def a_fire_that_failed_is_found(log):
    log.drop(ONE, 50)
    log.add("failed", ONE, 50, at=12, reason="the lock could not be asked: no such user")
    log.fails("failed", "lost")


@case
def a_lock_lost_within_its_ttl_is_found(log):
    log.add("failed", ONE, 50, at=53, reason="cancelled: the lock was lost")
    log.fails("failed")


@case
def a_server_that_does_not_answer_is_a_stall(log):
    log.drop(ONE, 50)
    log.drop(ONE, 51)
    log.add("failed", ONE, 50, at=98, reason="the lock could not be asked: no answer from x")
    log.passes()
    equal(Periods(log.history()).in_stalls, 2, "fires in stalls")


@case
def a_server_that_never_answers_is_found(log):
    for period in range(20, 60):
        log.drop(ONE, period)
        log.add("failed", ONE, period, at=98, reason="the lock could not be asked: no answer")
    log.fails("failed")


@case
def an_overlap_is_found(log):
    log.takes_over([50])
    log.drop(TWO, 50)
    log.ran(TWO, 50, begin=62, end=115)
    contains("period 1051 of process 1 at 5112 began during period 1050 of process 2",
             log.fails("overlapping")[0])


@case
def a_late_end_is_found(log):
    """Longer than the TTL, in a process that was not stopped."""
    log.drop(ONE, 50, "end")
    log.add("end", ONE, 50, at=TTL + 200)
    for period in range(51, 56):
        log.drop(ONE, period)
        log.add("skipped", ONE, period, at=TTL + 201 - (period - 50) * RATE, reason="running")
    log.takes_over([56])
    log.fails("overlapping")


@case
def a_run_without_an_end_is_found(log):
    log.drop(ONE, PERIODS - 1, "end")
    log.fails("unended")


@case
def a_killed_holder_costs_its_ttl(log):
    log.kill(50, at=20)
    log.passes()
    equal(Periods(log.history()).in_windows, TTL // RATE, "lost in the window")


@case
def a_killed_holder_costs_no_more_than_that(log):
    log.kill(50, at=20)
    for period in range(56, 70):
        log.drop(TWO, period)
        log.add("skipped", TWO, period, at=62)
    contains("period 1066", log.fails("lost")[0])


@case
def a_process_killed_in_a_run_cannot_tell_what_it_skipped(log):
    log.kill(50, at=20)
    log.drop(ONE, 49)
    log.drop(ONE, 50)
    log.drop(ONE, 48, "end")
    log.passes()
    equal(Periods(log.history()).held, 1, "fires during other runs")


@case
def a_process_silent_long_before_it_was_killed_is_found(log):
    log.kill(70, at=20)
    for period in range(10, 71):
        log.drop(ONE, period)
    contains("process 1 says nothing", log.fails("lost")[0])


@case
def a_rate_that_does_not_come_back_is_found(log):
    log.kill(50, at=20)
    for period in range(56, PERIODS):
        log.drop(TWO, period)
        log.add("skipped", TWO, period, at=62)
    contains("slow: no run", log.fails("slow", "lost")[0])


@case
def a_fault_before_the_end_proves_nothing(log):
    log.kill(PERIODS - 20, at=20)
    log.fails("slow")


@case
def a_stopped_holder_may_overlap_after_its_ttl(log):
    log.stop(50, at=20, until=60)
    log.passes()


@case
def a_stopped_holder_may_not_overlap_before_its_ttl(log):
    log.stop(50, at=20, until=60)
    log.drop(TWO, 54)
    log.ran(TWO, 54, begin=62)
    log.fails("overlapping")


@case
def a_stop_of_another_process_excuses_nothing(log):
    log.stop(50, at=20, until=60)
    log.processes[TWO].stops, log.processes[ONE].stops = log.processes[ONE].stops, []
    contains("overlapping", str(log.problems()))


@case
def a_stopped_process_may_fail(log):
    log.stop(50, at=20, until=60)
    log.add("failed", ONE, 50, at=1003)
    log.passes()


@case
def a_window_excuses_only_its_time(log):
    log.windows.append(Window(1000, 2000))
    log.drop(ONE, 20)
    log.passes()
    log.drop(ONE, 21)
    log.fails("lost")


@case
def a_clock_that_is_ahead_takes_the_fires_of_others(log):
    """Its fires are other ones for the lock server, and the others are refused as too old."""
    process = log.processes[ONE]
    process.ahead = 90_000
    log.lines = [line._replace(fire=line.fire + 90_000) if line.pid == ONE else line
                 for line in log.lines]
    log.passes()
    log.stop(50, at=20, until=60)
    log.windows = [window_of(log.rules, 5020, resumed=6000)]
    contains("unordered", str(log.problems()))


if __name__ == "__main__":
    run(arguments(""), lambda _: contextlib.nullcontext(Log()))
