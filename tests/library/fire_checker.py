"""What must hold of the fires of one job that several processes share: pure functions over the log.

All times are milliseconds of the monotonic clock, but for Line.fire, which is a time of the wall
clock of the process that wrote the line. A fire belongs to a period: the second of a cron, or the
slot floor(time / rate) of a fixed rate. The lock server grants each period once.

problems_of returns what is wrong, as texts:

doubled     a period was started twice
unordered   a period was started after a later one
overlapping two runs at the same time
unended     a run of a living process without an end
failed      a run failed, though its process was never stopped and the lock server had answered
lost        a period was not started, and nothing explains it
slow        the rate did not come back after the last fault

A lock cannot help it that a process which was stopped (SIGSTOP) for longer than its TTL goes on
with its run, so that is allowed to overlap the runs of others, but not before the TTL has passed.
"""
import re
from bisect import bisect_right
from collections import namedtuple

# `reason` is that of a skipped fire: "lock", or "running" for a process that was not done with an
# earlier fire. Of a failed one it is the error.
Line = namedtuple("Line", "event fire pid at reason", defaults=[""])

MARGIN = 1000           # a fault may cost the fires of its TTL and of this time
RECOVERY = 2000         # the rate is back this long after the TTL of the last fault
EARLY = 2               # a timer may wake up this early
RELEASE = 5000          # how long the release of a lock may take on a busy machine
SILENCE = re.compile(r"no answer|no time left|too late to be of use")
MOST_STALLS = 0.05      # of the fires
SHARE = 5               # one of so many fires at least runs at the end; a busy machine skips some


class Rules:
    """The job of a case. `wall` is the wall clock minus the monotonic one, `pace` the longest time
    between two starts without faults, if that is more than a period."""

    def __init__(self, rate, ttl, wall, pace=0, late_expiry=0):
        self.rate, self.ttl, self.wall = rate, ttl, wall
        self.pace = max(pace, rate)
        self.late_expiry = late_expiry      # how much later than its TTL the server frees a lock


class Process:
    """A process from when it was ready. `ended` is when it was killed or told to stop; none: it
    lives. `ahead` is by how much its wall clock is."""

    def __init__(self, pid, ready, ahead=0):
        self.pid, self.ready, self.ahead = pid, ready, ahead
        self.ended, self.killed = None, False
        self.stops = []                     # [begin, end] of each SIGSTOP; end none: still stopped

    def was_stopped(self, begin, end):
        return any(stop[0] <= end and (stop[1] is None or stop[1] >= begin) for stop in self.stops)

    def lived(self, begin, end):
        """Returns whether it could work all the time from begin to end."""
        return (self.ready <= begin and (self.ended is None or self.ended >= end) and
                not self.was_stopped(begin, end))


class Window:
    """The time in which a fault may cost fires."""

    def __init__(self, fault, end):
        self.fault, self.end = fault, end

    def touches(self, begin, end):
        return self.fault <= end and begin <= self.end


class Run:
    def __init__(self, line, due, period):
        self.pid, self.fire, self.start = line.pid, line.fire, line.at
        self.due, self.period = due, period
        self.end = None                     # none: there is no line of it

    def __repr__(self):
        return f"period {self.period} of process {self.pid} at {self.start:.0f}"


class History:
    """The lines of a log with what is known of the processes."""

    def __init__(self, rules, processes, lines, windows=(), until=None):
        self.rules, self.windows = rules, list(windows)
        self.processes = {process.pid: process for process in processes}
        self.lines = sorted(lines, key=lambda line: line.at)
        self.until = until if until is not None else self.lines[-1].at
        self.runs = self.find_runs()
        # What a lock server that did not answer in time may have cost: the machine was too busy.
        self.stalls = [Window(self.due_of(line), window_of(rules, line.at).end)
                       for line in self.lines
                       if line.event == "failed" and self.is_stall(line) and
                       not self.processes[line.pid].was_stopped(self.due_of(line), line.at)]
        self.times = {pid: [line.at for line in self.lines if line.pid == pid]
                      for pid in self.processes}

    def due_of(self, line):
        """Returns the time of a fire on the monotonic clock."""
        return line.fire - self.processes[line.pid].ahead - self.rules.wall

    def period_of(self, line):
        """Returns what the lock server knows the fire by."""
        return line.fire // self.rules.rate

    def real_period_of(self, line):
        """Returns the period by the clock of this machine."""
        return (line.fire - self.processes[line.pid].ahead) // self.rules.rate

    def find_runs(self):
        runs, open_runs = [], {}
        for line in self.lines:
            if line.event == "start":
                run = Run(line, self.due_of(line), self.period_of(line))
                runs.append(run)
                open_runs[line.pid, line.fire] = run
            elif line.event == "end" and (line.pid, line.fire) in open_runs:
                open_runs.pop((line.pid, line.fire)).end = line.at
        return runs

    def end_of(self, run):
        """Returns the end of a run; that of its process if it was killed."""
        process = self.processes[run.pid]
        return run.end if run.end is not None else process.ended or self.until

    def is_stall(self, line):
        """Returns whether a run failed as nobody answered, or not within the TTL."""
        if "the lock was lost" in line.reason:
            return line.at - self.due_of(line) >= 0.9 * self.rules.ttl
        return bool(SILENCE.search(line.reason))

    def released_by(self, run):
        """Returns when the lock of a run was free at the latest: the release is done before the
        next line of its process. What a killed process leaves is in the window of that fault."""
        end = self.end_of(run)
        times = self.times[run.pid]
        later = bisect_right(times, end)
        if later == len(times) and self.processes[run.pid].killed:
            return end
        return min([end + RELEASE, *times[later:later + 1]])

    def ended_before(self, line):
        """Returns the time of the last line of this process before this one, if any."""
        return max((time for time in self.times[line.pid] if time < line.at), default=None)


def doubled(history):
    seen, found = {}, []
    for run in history.runs:
        if run.period in seen:
            found.append(f"doubled: {run}, which was started before: {seen[run.period]}")
        seen[run.period] = run
    return found


def unordered(history):
    """A run's lock is free again before the next one is granted, so the log has the order of the
    grants, but for a process that stood still between the grant and its first line."""
    found, last = [], None
    for run in history.runs:
        if last and run.period < last.period:
            if not history.processes[run.pid].was_stopped(run.due, run.start):
                found.append(f"unordered: {run} is after {last}")
            continue
        last = run
    return found


def overlapping(history):
    found, open_runs = [], []
    for run in history.runs:
        open_runs = [other for other in open_runs if history.end_of(other) > run.start]
        for other in open_runs:
            if not may_overlap(history, other, run):
                found.append(f"overlapping: {run} began during {other}")
        open_runs.append(run)
    return found


def may_overlap(history, earlier, later):
    """Returns whether one of them stood still until its lock had expired, when the other began."""
    if earlier.pid == later.pid:
        return False
    for still, other in ((earlier, later), (later, earlier)):
        stood = history.processes[still.pid].was_stopped(still.due, history.end_of(still))
        if stood and other.start >= still.due + history.rules.ttl - EARLY:
            return True
    return False


def unended(history):
    return [f"unended: {run}" for run in history.runs
            if run.end is None and not history.processes[run.pid].killed]


def failed(history):
    return [f"failed: the run of {line.fire} in process {line.pid} at {line.at:.0f}: {line.reason}"
            for line in history.lines
            if line.event == "failed" and not history.processes[line.pid].stops and
            not history.is_stall(line)]


class Periods:
    """Counts of the periods from the first to the last one, by what became of them."""

    def __init__(self, history):
        rate, wall = history.rules.rate, history.rules.wall
        lines = [line for line in history.lines if line.event == "start"]
        self.started = {history.real_period_of(line) for line in lines}
        # Without those of the first start: a period may be over before a process is ready.
        ready = min(process.ready for process in history.processes.values())
        first = max(min(self.started), int(ready + wall) // rate + 1)
        last = int(history.until + wall) // rate - 1        # the last whole one
        self.fires = last + 1 - first
        self.run = sum(first <= period <= last for period in self.started)
        self.in_windows = self.in_stalls = self.held = 0
        self.problems = []
        if len(history.stalls) > max(self.fires * MOST_STALLS, 3):
            self.problems.append(f"failed: {len(history.stalls)} runs, as nobody answered")
        self.longest_gap = 0
        before = first
        for period in range(first, last + 1):
            if period in self.started:
                self.longest_gap = max(self.longest_gap, (period - before) * rate)
                before = period
                continue
            begin = period * rate - wall
            if any(window.touches(begin, begin + rate) for window in history.windows):
                self.in_windows += 1
            elif any(window.touches(begin, begin + rate) for window in history.stalls):
                self.in_stalls += 1
            elif reason := unexplained(history, period, begin):
                self.problems.append(f"lost: period {period} at {begin:.0f}: {reason}")
            else:
                self.held += 1

    def __str__(self):
        return (f"{self.fires} fires, {self.run} run, {self.in_windows} not run in fault "
                f"windows, {self.held} during other runs, {self.in_stalls} in stalls, "
                f"longest gap {self.longest_gap} ms")


def unexplained(history, period, begin):
    """Returns why the period should have been started; an empty text: every process that could
    have done it was refused for a reason."""
    alive = [process for process in history.processes.values()
             if process.lived(begin, begin + history.rules.rate)]
    if not alive:
        return "no process lived"
    for process in alive:
        line = next((line for line in history.lines if line.pid == process.pid and
                     history.real_period_of(line) == period), None)
        reason = refusal_fault(history, line) if line else silence_fault(history, process, begin)
        if reason:
            return f"process {process.pid} {reason}"
    return ""


def refusal_fault(history, line):
    """Returns what is wrong with a line of a period that was not started."""
    if line.event != "skipped":
        return f"says {line.event}"
    if line.reason == "running":
        before = history.ended_before(line)
        if before is not None and line.at - before <= RELEASE:
            return ""
        return "skipped it as running, though it was not"
    due = history.due_of(line)
    for run in history.runs:
        if run.pid == line.pid or run.due - EARLY > line.at:
            continue
        if run.period >= history.period_of(line) or history.released_by(run) >= due:
            return ""
    return "skipped it though the lock was free"


def silence_fault(history, process, begin):
    """A process tells of the fires that it skips after the run that they came in, so one that ends
    in a run does not tell of them."""
    times = history.times[process.pid]
    last_fire = max((history.due_of(line) for line in history.lines if line.pid == process.pid),
                    default=begin)
    if last_fire < begin and process.ended and process.ended - times[-1] <= RELEASE:
        return ""
    return "says nothing"


def slow(history):
    """After the last fault there must be fires again in time, and enough of them to tell."""
    if not history.windows:
        return []
    fault = max(window.fault for window in history.windows)
    back = max(window.end for window in history.windows) - MARGIN + RECOVERY
    after = [run.start for run in history.runs if run.start > back]
    first = min((run.start for run in history.runs if run.start > fault), default=None)
    if first is None or first > back:
        return [f"slow: no run from {fault:.0f}, the last fault, until {back:.0f}"]
    expected = (history.until - back) / history.rules.pace
    if expected < 2 or len(after) < expected / SHARE:
        return [f"slow: {len(after)} runs from {back:.0f} until {history.until:.0f}"]
    return []


def problems_of(history):
    found = [problem for look in (doubled, unordered, overlapping, unended, failed, slow)
             for problem in look(history)]
    return found + Periods(history).problems


def window_of(rules, fault, resumed=None):
    """Returns the window of a fault to the holder of the lock. `resumed`: nobody else could run
    before that, as its clock was ahead."""
    freed = fault + rules.ttl + rules.late_expiry
    return Window(fault, max(freed, resumed or 0) + MARGIN)


def read_line(text):
    """Returns the Line of a text "event FIRE_MS PID MONOTONIC_NS"."""
    event, fire, pid, at = text.split()
    return Line(event, int(fire), int(pid), int(at) / 1e6)


SKIPPED = re.compile(r" job\.skipped .*fireTime=(\d+) reason=(\w+) count=(\d+)")
FAILED = re.compile(r" job\.failed .*fireTime=(\d+) .*error=(.*)")


def with_reasons(lines, said, rate):
    """Returns the lines with their reasons from the messages of the processes (a text for each
    pid). A process that skips several fires for one reason tells of the first one only, so a line
    is added for each other."""
    skipped = {(pid, int(found[1])): (found[2], int(found[3]))
               for pid, text in said.items() for found in SKIPPED.finditer(text)}
    failures = {(pid, int(found[1])): found[2]
                for pid, text in said.items() for found in FAILED.finditer(text)}
    result = []
    for line in lines:
        if line.event == "failed":
            line = line._replace(reason=failures[line.pid, line.fire])
        if line.event != "skipped":
            result.append(line)
            continue
        reason, count = skipped[line.pid, line.fire]
        result += [line._replace(fire=line.fire + n * rate, reason=reason) for n in range(count)]
    return result
