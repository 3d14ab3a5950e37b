#!/usr/bin/env python3
"""The wall clock is set while the server runs (libfaketime changes the time of the server alone).

usage: clock_cases.py KSANA [CASE…]

The clock jumps ahead by an hour, a day and ten years, and back by an hour and a day. The work after
a jump is bounded, no fire happens twice, and the next fires follow the new time.
"""
import contextlib
import functools
import glob
import os
from collections import Counter
from datetime import timedelta

from kit.cases import add_case, arguments, run
from kit.checks import check, equal
from kit.server import Server
from kit.targets import Target
from kit.times import text_of, time_of, utc_now

LIBRARY = "/usr/lib/*/faketime/libfaketimeMT.so.1"
JUMPS = {"+1h": timedelta(hours=1), "-1h": timedelta(hours=-1), "+1d": timedelta(days=1),
         "-1d": timedelta(days=-1), "+10y": timedelta(days=3652)}


class Clock:
    """The time that the server sees: the real time plus an offset."""

    def __init__(self, folder):
        self.file = os.path.join(folder, "clock")
        self.offset = timedelta()
        self.jump(timedelta())

    def jump(self, by):
        self.offset += by
        seconds = self.offset.total_seconds()
        with open(self.file + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds:+.0f}\n")
        os.rename(self.file + ".new", self.file)

    def now(self):
        return utc_now() + self.offset

    def environment(self):
        libraries = glob.glob(LIBRARY)
        check(libraries, "libfaketime is not installed")
        return {"LD_PRELOAD": libraries[0], "FAKETIME_TIMESTAMP_FILE": self.file,
                "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def nominal_times(calls):
    return [time_of(call.headers["Ksana-Scheduled-At"]) for call in calls]


def jump_case(server, target, clock, jump):
    """A job with a grid from long ago, every half second, keeps firing, and never twice for one
    time."""
    origin = text_of(utc_now() - timedelta(days=30))
    server.create(id="beat", schedule={"kind": "every", "every": "500ms", "start_at": origin},
                  http={"method": "GET", "url": target.url + "/beat"})
    server.create(id="daily", schedule={"kind": "cron", "cron": "0 3 * * *"},
                  http={"method": "GET", "url": target.url + "/daily"})
    server.create(id="once", schedule={"kind": "once", "run_at": text_of(utc_now() +
                                                                         timedelta(minutes=30))},
                  http={"method": "GET", "url": target.url + "/once"})
    target.await_calls("/beat", 2)
    before = len(target.of("/beat"))
    clock.jump(jump)
    # After a small step back the server waits: these fires have happened already.
    silent = timedelta(hours=-3) < jump < timedelta()
    if not silent:
        calls = target.await_calls("/beat", before + 4, patience=8)
        burst = [call for call in calls[before:] if call.at <= calls[before].at +
                 timedelta(milliseconds=200)]
        check(len(burst) <= 3, f"{len(burst)} calls at once")
        last = nominal_times(calls)[-1]
        check(abs(last - clock.now()) < timedelta(seconds=5), f"{last} is not about now")
    seen = Counter(nominal_times(target.of("/beat")))
    check(max(seen.values()) == 1, "a fire happened twice")
    if jump > timedelta():
        server.await_status("once", "missed")
        equal(target.of("/once"), [], "calls of a once whose time was jumped over")
        next_run = time_of(server.await_job(
            "daily", lambda job: time_of(job["next_run_at"]) > clock.now(), "planned")
            ["next_run_at"])
        check(next_run - clock.now() <= timedelta(days=1), f"next daily fire: {next_run}")
    equal(server.request("GET", "/livez")[0], 200, "livez")


def back_again(server, target, clock):
    """After an accidental jump of ten years ahead and its correction, the job fires again."""
    origin = text_of(utc_now() - timedelta(days=30))
    server.create(id="beat", schedule={"kind": "every", "every": "500ms", "start_at": origin},
                  http={"method": "GET", "url": target.url + "/beat"})
    target.await_calls("/beat", 1)
    clock.jump(JUMPS["+10y"])
    target.await_calls("/beat", len(target.of("/beat")) + 3, patience=8)
    clock.jump(-JUMPS["+10y"])
    before = len(target.of("/beat"))
    calls = target.await_calls("/beat", before + 4, patience=8)
    check(abs(nominal_times(calls)[-1] - clock.now()) < timedelta(seconds=5), "not the present")


@contextlib.contextmanager
def clock_place(binary):
    with Target() as target, Server(binary, "sqlite") as server:
        clock = Clock(server.folder)
        server.environment.update(clock.environment())
        server.start()
        yield server, target, clock
        equal(server.stop(), 0, "exit code")


if __name__ == "__main__":
    for name, jump in JUMPS.items():
        add_case(functools.partial(jump_case, jump=jump), name)
    add_case(back_again, "there and back")
    given = arguments("KSANA")
    run(given, lambda _: clock_place(given.ksana), parallel=len(given.cases))
