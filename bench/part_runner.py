"""Runs the parts of a benchmark in order, prints tables, and saves them on request."""
import argparse
import datetime
import os
import platform
import re
import signal
import sys
import time
import traceback

from machine import KSANA, QUIET, ROOT, OthersShare, cpu_name
from report import Report


def measure(name, part):
    """Runs one part. Returns (section of the results, whether every goal was met)."""
    function, words = part
    quiet = OthersShare()
    time.sleep(1)
    before = quiet.so_far()
    print(f"{name}: {words}", flush=True)
    if before > QUIET:
        print(f"   warning: others use {100 * before:.0f} % of the machine", flush=True)
    others, start, report, problem = OthersShare(), time.monotonic(), Report(), ""
    try:
        function(report)
    except Exception as error:      # the other parts are still useful
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


def save(benchmark, sections, head, order):
    """Writes the results. Sections that were not measured keep their old text."""
    path = ROOT / "bench" / "results" / f"{benchmark}.md"
    old = path.read_text() if path.exists() else ""
    kept = {re.match(r"## (\w+)", text).group(1): text.rstrip() + "\n"
            for text in re.split(r"(?m)^(?=## )", old) if text.startswith("## ")}
    kept.update(sections)
    path.write_text(
        f"# Benchmark: {benchmark}\n\n{platform.machine()}, {os.cpu_count()} cores, {cpu_name()}. "
        f"Command: `./dev bench {benchmark} --save`. {head}\n\n"
        + "\n".join(kept[name] for name in order if name in kept))


def run(benchmark, parts, head, program=KSANA):
    """Runs the parts that the command line selects. `parts`: {name: (function of a Report, what
    it measures)}; `head`: the introduction of the results; `program`: what must have been built.
    Returns the exit status."""
    parser = argparse.ArgumentParser(prog=f"./dev bench {benchmark}")
    parser.add_argument("--save", action="store_true",
                        help=f"write bench/results/{benchmark}.md, too")
    parser.add_argument("--only", default=",".join(parts), metavar="PART,…")
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [name for name in names if name not in parts]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are: {', '.join(parts)}")
    if not program.exists():
        parser.error(f"{program} is not there: run this through ./dev bench {benchmark}")
    for number in (signal.SIGTERM, signal.SIGHUP):      # so that the started processes are stopped
        signal.signal(number, lambda *_: sys.exit(1))
    sections, met = {}, True
    for name in names:
        sections[name], good = measure(name, parts[name])
        met = met and good
    print("\n" + "\n".join(sections.values()))
    if options.save:
        save(benchmark, sections, head, parts)
    return 0 if met else 1
