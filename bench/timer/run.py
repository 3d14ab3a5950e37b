#!/usr/bin/env python3
"""The timer service as a whole: how late it calls, how much it carries, what it needs.

    ./dev bench timer                  every part, as tables with goals
    ./dev bench timer --only idle,api  some parts: oneshot recurring million idle callbacks api
    ./dev bench timer --save           also writes bench/results/timer.md; the parts that were
                                       not run stay there as they are

The server keeps its jobs in SQLite, durable (synchronous=FULL). Rivals come from
../shared/bench/peers; where that is not there, the table says so. KSANA_BENCH_BINARY names another
ksana than build/release/ksana.
"""
import argparse
import datetime
import os
import platform
import re
import signal
import sys
import time
import traceback

from machine import KSANA, QUIET, ROOT, OthersShare
from parts import PARTS, Report

RESULTS = ROOT / "bench" / "results" / "timer.md"


def measure(name):
    """(The section of the results, whether every goal was met)."""
    function, words = PARTS[name]
    quiet = OthersShare()
    time.sleep(1)
    before = quiet.so_far()
    print(f"{name}: {words}", flush=True)
    if before > QUIET:
        print(f"   warning: others use {100 * before:.0f} % of the machine", flush=True)
    others, start, report, problem = OthersShare(), time.monotonic(), Report(), ""
    try:
        function(report)
    except Exception as error:      # the other parts are still worth having
        traceback.print_exc()
        problem = f"\nNot measured to the end: {type(error).__name__}: {error}\n"
    share = others.so_far()
    load = f"others used {100 * share:.0f} % of the machine meanwhile"
    if share > QUIET:
        load += ": **not quiet, doubt the numbers**"
    print(f"   took {time.monotonic() - start:.0f} s; {load}", flush=True)
    lines = [f"## {name}: {words}", "", f"{datetime.date.today()}; {load}.", ""]
    if report.rows:
        lines += ["| what | measured | goal | |", "|---|---|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in report.rows]
    return "\n".join(lines) + "\n" + problem, not report.missed and not problem


def save(sections):
    """Sections that were not measured stay as they are."""
    old = RESULTS.read_text() if RESULTS.exists() else ""
    kept = {re.match(r"## (\w+)", text).group(1): text.rstrip() + "\n"
            for text in re.split(r"(?m)^(?=## )", old) if text.startswith("## ")}
    kept.update(sections)
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith("model name")), platform.machine())
    head = (f"# Benchmark: timer\n\n{platform.machine()}, {os.cpu_count()} cores, {cpu}. Command: "
            "`./dev bench timer --save`. Durable (SQLite synchronous=FULL); server, target and "
            "clients share the cores. Use the ratios, not the absolute numbers.\n\n")
    RESULTS.write_text(head + "\n".join(kept[name] for name in PARTS if name in kept))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART,…")
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    if not KSANA.exists():
        parser.error(f"{KSANA} is not there: run this through ./dev bench timer")
    for number in (signal.SIGTERM, signal.SIGHUP):      # so that what was started is stopped
        signal.signal(number, lambda *_: sys.exit(1))
    sections, met = {}, True
    for name in names:
        sections[name], good = measure(name)
        met = met and good
    print("\n" + "\n".join(sections.values()))
    if options.save:
        save(sections)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
