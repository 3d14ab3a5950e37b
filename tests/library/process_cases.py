#!/usr/bin/env python3
"""Processes that share a job for one node: each fire runs once, whoever is killed or stopped.

usage: process_cases.py FIRE_CHILD redis|majority|etcd|postgres|mariadb [CASE...]

Starts two or three of FIRE_CHILD on one lock server. While they run, the one that holds the lock is
killed or stopped for longer than its TTL. fire_checker.py says what must hold of their log. The
servers are those of KSANA_TEST_REDIS, KSANA_TEST_REDIS_MAJORITY, KSANA_TEST_ETCD,
KSANA_TEST_POSTGRES and KSANA_TEST_MARIADB, as ./dev test starts them.
"""
import glob
import os
import signal
import subprocess
import time
import uuid

from fire_checker import (MARGIN, RECOVERY, History, Periods, Process, Rules, problems_of,
                          read_line, window_of, with_reasons)
from kit.cases import add_case, arguments, run, say
from kit.checks import Failure, check, equal
from kit.places import Place
from kit.waiting import let_pass, wait_until

FAKETIME = "/usr/lib/*/faketime/libfaketimeMT.so.1"
BEYOND = 0.1            # seconds after the TTL for which a process stays stopped


class Kind:
    """A lock server, and rates that suit it. Times in milliseconds."""

    def __init__(self, variable, rate, ttl, fires, late_expiry=0):
        self.variable, self.rate, self.ttl, self.fires = variable, rate, ttl, fires
        self.late_expiry = late_expiry


KINDS = {
    "redis": Kind("KSANA_TEST_REDIS", rate=50, ttl=1000, fires=200),
    "majority": Kind("KSANA_TEST_REDIS_MAJORITY", rate=80, ttl=1000, fires=100),
    # It keeps whole seconds, and deletes a key up to a second after its lease has expired.
    "etcd": Kind("KSANA_TEST_ETCD", rate=100, ttl=2000, fires=120, late_expiry=1000),
    "postgres": Kind("KSANA_TEST_POSTGRES", rate=80, ttl=1000, fires=100),
    "mariadb": Kind("KSANA_TEST_MARIADB", rate=80, ttl=1000, fires=100),
}


def now():
    """Returns the monotonic clock in milliseconds: the same one for all processes."""
    return time.monotonic_ns() / 1e6


class Child(Process):
    """A process with the library; the checker sees it as a Process."""

    def __init__(self, command, environment, messages, ahead):
        self.messages = messages            # the file of its log messages
        with open(messages, "wb") as file:
            self.popen = subprocess.Popen(command, env={**os.environ, **environment}, text=True,
                                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                          stderr=file)
        super().__init__(self.popen.pid, now(), ahead)

    def await_ready(self):
        with self.popen.stdout:
            equal(self.popen.stdout.readline(), "ready\n", "what the process says")
        self.ready = now()

    def kill(self):
        self.ended, self.killed = now(), True
        self.popen.kill()
        self.popen.wait()

    def stop(self):
        self.stops.append([now(), None])
        self.popen.send_signal(signal.SIGSTOP)

    def resume(self):
        self.popen.send_signal(signal.SIGCONT)
        self.stops[-1][1] = now()

    def lives(self):
        return self.ended is None

    def end(self):
        """Has it end by itself, and returns its exit code."""
        self.ended = now()
        self.popen.terminate()
        return self.popen.wait(timeout=30)


class FirePlace(Place):
    """The processes of one case, their log, and the faults."""

    def __init__(self, given, rate=None, ttl=None, work=0.4, flags=()):
        """`work` is the share of a period that a run takes."""
        super().__init__(given)
        self.kind = KINDS[given.kind]
        self.rate, self.ttl = rate or self.kind.rate, ttl or self.kind.ttl
        if "--cron" not in flags:
            flags = ("--rate", str(self.rate), *flags)
        self.work = int(self.rate * work)
        self.flags = ("--work", str(self.work), "--ttl", str(self.ttl), *flags)
        self.rules = Rules(self.rate, self.ttl, time.time_ns() / 1e6 - now(),
                           pace=self.rate + self.work if self.work > self.rate else 0,
                           late_expiry=self.kind.late_expiry)
        self.children, self.windows, self.lines = [], [], []
        self.hits = 0           # faults that came during a run

    def open(self):
        self.url = os.environ.get(self.kind.variable)
        check(self.url, f"{self.kind.variable} names no server: see tests/support")
        self.prefix = f"fires_{uuid.uuid4().hex[:12]}"
        self.folder = self.new_folder("ksana_fires_")
        self.log = self.folder / "log"
        self.log.touch()
        self.log_file = self.enter_context(open(self.log, encoding="ascii"))
        self.callback(self.kill_all)

    def kill_all(self):
        for child in self.children:
            if child.popen.poll() is None:
                child.popen.kill()
                child.popen.wait()

    def start(self, ahead=0):
        """Starts a process whose clock is `ahead` seconds ahead, and returns it once it is
        ready."""
        command = [self.given.fire_child, "--lock", self.url, "--prefix", self.prefix,
                   "--log", str(self.log), *self.flags]
        environment = {}
        if ahead:
            libraries = glob.glob(FAKETIME)
            check(libraries, "libfaketime is not installed")
            environment = {"LD_PRELOAD": libraries[0], "FAKETIME": f"{ahead:+d}",
                           "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        child = Child(command, environment, self.folder / f"messages_{len(self.children)}",
                      ahead * 1000)
        self.children.append(child)
        child.await_ready()
        return child

    def start_some(self, count):
        """Starts processes, each in another part of the period."""
        for number in range(count):
            let_pass(self.rate / 1000 * number / count, "the processes fire at different times")
            self.start()

    def read(self):
        """Reads the new lines of the log and returns all of them."""
        for text in self.log_file:
            self.lines.append(read_line(text))
        return self.lines

    def starts(self):
        return [line for line in self.read() if line.event == "start"]

    def await_starts(self, count):
        wait_until(lambda: len(self.starts()) >= count, lambda: f"{count} starts of "
                   f"{len(self.starts())}: {self.messages()}", within=60)

    def await_more_starts(self, count):
        self.await_starts(len(self.starts()) + count)

    def holder(self):
        """Waits until a run begins and returns its process."""
        seen = len(self.starts())
        wait_until(lambda: len(self.starts()) > seen, lambda: f"a run: {self.messages()}",
                   pause=0.001)
        pid = self.starts()[-1].pid
        return next(child for child in self.children if child.pid == pid)

    def note_hit(self, child, fault):
        """Counts a fault if its process was in a run then."""
        own = [line for line in self.read() if line.pid == child.pid and line.at <= fault]
        self.hits += bool(own) and own[-1].event == "start"

    def kill_holder(self):
        """Kills the process that runs, and starts another one."""
        child = self.holder()
        child.kill()
        self.windows.append(window_of(self.rules, child.ended))
        self.note_hit(child, child.ended)
        self.start(child.ahead // 1000)
        self.await_recovery()

    def stop_holder(self, alone=False):
        """Stops the process that runs for longer than the TTL. `alone`: no other can run."""
        child = self.holder()
        child.stop()
        fault = child.stops[-1][0]
        let_pass(self.ttl / 1000 + BEYOND, "the lock of a stopped process must expire")
        if not alone:
            wait_until(lambda: any(line.at > fault and line.pid != child.pid
                                   for line in self.starts()),
                       lambda: f"another process to run: {self.messages()}")
        child.resume()
        self.note_hit(child, fault)
        self.windows.append(window_of(self.rules, fault, child.stops[-1][1] if alone else None))
        self.await_recovery()

    def await_recovery(self):
        """Waits until the window of the fault is over, so that the next one has a window of its
        own, and fires outside of the windows are seen."""
        rest = self.windows[-1].end - now()
        let_pass(max(rest, 0) / 1000, "the checker judges the time outside of the windows")
        self.await_more_starts(2)

    def finish(self, fires):
        """Ends the case when so many fires have run, and checks the log."""
        if self.windows:
            rest = max(window.end for window in self.windows) - MARGIN + RECOVERY - now()
            let_pass(max(rest, 0) / 1000, "the rate must be back from then on")
            self.await_more_starts(3)
        self.await_starts(fires)
        until = now()
        codes = [child.end() for child in self.children if child.lives()]
        equal(set(codes), {0}, "exit codes")
        said = {child.pid: child.messages.read_text("utf-8") for child in self.children}
        lines = with_reasons(self.read(), said, self.rate)
        history = History(self.rules, self.children, lines, self.windows, until)
        periods = Periods(history)
        problems = problems_of(history)
        if problems:
            raise Failure("\n".join([str(periods), *problems[:20], self.messages()]))
        return history, periods

    def report(self, name, history, periods):
        runners = len({run.pid for run in history.runs})
        say(f"{name}: {periods}; {len(self.windows)} faults, {self.hits} in a run; "
            f"{len(self.children)} processes, of which {runners} ran it")

    def messages(self):
        """Returns the last log lines, and what the processes have said but for single runs."""
        said = [f"{child.pid}: {line}" for child in self.children
                for line in child.messages.read_text("utf-8").splitlines() if " info " not in line]
        return "\n".join([*(str(line) for line in self.lines[-20:]), *said[-20:]])


def two_processes(place):
    """The holder is killed, and stopped, and killed."""
    place.start_some(2)
    place.await_starts(10)
    place.kill_holder()
    place.stop_holder()
    place.kill_holder()
    return place.finish(place.kind.fires)


def three_processes(place):
    place.start_some(3)
    place.await_starts(10)
    place.stop_holder()
    place.kill_holder()
    return place.finish(place.kind.fires)


def short_runs(place):
    """The lock is free again when the next process fires in the same period: the time that the lock
    server remembers is all that keeps it from running. Without faults, nothing is lost."""
    place.start_some(3)
    place.await_starts(20)
    # Processes may have begun to fire at the same part of the period.
    for _ in range(5):
        if refused_when_free(place.read(), place.rate):
            break
        place.start()
        place.await_more_starts(20)
    history, periods = place.finish(place.kind.fires)
    count = refused_when_free(history.lines, place.rate)
    check(count >= 10, f"{count} fires were refused after the end of a run of their period")
    equal(periods.in_windows, 0, "fires in windows")
    return history, periods


def refused_when_free(lines, rate):
    """Returns how many fires were skipped after the run of the same period had ended."""
    ends = {line.fire // rate: line for line in lines if line.event == "end"}
    return sum(line.event == "skipped" and line.fire // rate in ends and
               line.at > ends[line.fire // rate].at and
               line.pid != ends[line.fire // rate].pid for line in lines)


def every_second(place):
    """All processes fire at the same moment."""
    place.start_some(3)
    place.await_starts(3)
    place.kill_holder()
    return place.finish(10)


def long_runs(place):
    """Runs take longer than the TTL, so they need renewals, and longer than a period. A run that
    stood still is cancelled, as its lock was lost."""
    place.start_some(3)
    place.await_starts(2)
    place.stop_holder()
    place.kill_holder()
    history, periods = place.finish(0)
    stopped = next(child for child in place.children if child.stops)
    fault, resumed = stopped.stops[0]
    still = next(run for run in history.runs if run.pid == stopped.pid and
                 run.start <= fault <= history.end_of(run))
    # On a busy machine the time of the run may be over when the process goes on.
    if resumed - still.start < place.work - 100:
        check(any(line.event == "failed" and line.fire == still.fire and
                  "the lock was lost" in line.reason for line in history.lines),
              "the run that stood still was not cancelled")
    return history, periods


def clock_behind(place):
    """A process whose clock is behind never runs: its fires were those of others."""
    place.start_some(2)
    late = place.start(ahead=-90)
    place.await_starts(10)
    place.kill_holder()
    history, periods = place.finish(place.kind.fires)
    equal([run for run in history.runs if run.pid == late.pid], [], "runs of the late process")
    check(any(line.pid == late.pid for line in history.lines), "the late process did not fire")
    return history, periods


def clock_ahead(place):
    """A process whose clock is ahead runs all fires. While it is stopped nobody runs, as the fires
    of the others are in its past; what happens to the others costs nothing."""
    early = place.start(ahead=90)
    place.await_starts(5)
    place.start_some(2)
    place.await_more_starts(20)
    place.children[-1].kill()
    place.start()
    place.await_more_starts(20)
    place.stop_holder(alone=True)
    history, periods = place.finish(place.kind.fires)
    equal({run.pid for run in history.runs}, {early.pid}, "processes that ran")
    return history, periods


# Name: the function, the options of the place, and the kinds of servers (none: all).
CASES = {
    "two processes": (two_processes, {}, None),
    "three processes, renewed": (three_processes, {"flags": ("--renew",)}, None),
    "short runs": (short_runs, {"work": 0.02}, None),
    "every second": (every_second, {"flags": ("--cron",), "rate": 1000, "work": 0.2},
                     ("redis", "etcd", "majority")),
    "long runs": (long_runs, {"flags": ("--renew",), "rate": 250, "ttl": 800, "work": 6},
                  ("redis", "postgres")),
    "clock behind": (clock_behind, {"work": 0.2}, ("redis", "etcd")),
    "clock ahead": (clock_ahead, {}, ("redis",)),
}


def make_case(name, function):
    def body(place):
        history, periods = function(place)
        place.report(name, history, periods)
    return body


if __name__ == "__main__":
    for case_name, (function, _, _) in CASES.items():
        add_case(make_case(case_name, function), case_name)
    given = arguments("FIRE_CHILD KIND")
    given.cases = [one for one in given.cases
                   if CASES[one.name][2] is None or given.kind in CASES[one.name][2]]
    given.fire_child = os.path.abspath(given.fire_child)
    run(given, lambda one: FirePlace(given, **CASES[one.name][1]), parallel=len(given.cases))
