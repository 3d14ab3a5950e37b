#!/usr/bin/env python3
"""Benchmark of lists in a full store (100,000 jobs, a million runs), over HTTP.

    ./dev bench lists                    both stores, as tables with the goal of 50 ms at p99
    ./dev bench lists --only sqlite      one of: sqlite postgresql
    ./dev bench lists --match search     only questions whose name contains this
    ./dev bench lists --keep FOLDER      keeps the filled stores there and uses them again
    ./dev bench lists --jobs N --runs N  other sizes
    ./dev bench lists --save             also writes bench/results/lists.md

KSANA_BENCH_BINARY names a ksana other than build/release/ksana.
"""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import time

from data import Data
from machine import KSANA, QUIET, ROOT, Http, OthersShare, cpu_name, folder, ksana_on
from questions import all_questions

RESULTS = ROOT / "bench" / "results" / "lists.md"
STORES = ("sqlite", "postgresql")
GOAL = 50               # milliseconds at p99
# per question: this many answers, or as many as fit into PATIENCE seconds
SAMPLES, PATIENCE = 200, 6.0
FEWEST = 30
START_POSTGRES = ROOT / "tests" / "support" / "start_postgres.sh"


def fill(data, store, place):
    """Imports all records; the export is generated while it is read."""
    start = time.monotonic()
    log = place / "import.log"
    with open(log, "w", encoding="utf-8") as errors:
        done = subprocess.Popen([KSANA, "import", "--store", store, "-"], stdin=subprocess.PIPE,
                                stdout=errors, stderr=errors, text=True)
        with contextlib.suppress(BrokenPipeError), done.stdin:
            data.write(done.stdin)
        if done.wait():
            raise RuntimeError(f"ksana import: {log.read_text()[-2000:]}")
    print(f"   filled within {time.monotonic() - start:.0f} s", flush=True)


@contextlib.contextmanager
def postgres(place):
    """Starts a PostgreSQL server with its data in the folder, and yields its URL."""
    done = subprocess.run(["bash", START_POSTGRES, place], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    try:
        yield done.stdout.strip()
    finally:
        stop_postgres(place)


def stop_postgres(place):
    """Stops the server and keeps its data; tests/support/start_postgres.sh would delete it."""
    pid = int((place / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGINT)
    while pathlib.Path(f"/proc/{pid}").exists():
        time.sleep(0.05)


def store_url(stack, name, place):
    """Returns (URL of the store, file that marks it as filled)."""
    mark = place / "filled.json"
    place.mkdir(parents=True, exist_ok=True)
    if name == "sqlite":
        return f"sqlite:{place / 'ksana.db'}", mark
    server = place / "postgres"
    server.mkdir(exist_ok=True)
    for folder_above in (place, place.parent):  # the server runs as another user
        folder_above.chmod(0o755)
    return stack.enter_context(postgres(server)), mark


def prepared(stack, name, place, options):
    """Fills the store unless it is filled already. Returns (URL of the store, its data)."""
    url, mark = store_url(stack, name, place)
    if mark.exists():
        kept = json.loads(mark.read_text())
        now = datetime.datetime.fromtimestamp(kept["now"], datetime.timezone.utc)
        return url, Data(kept["jobs"], kept["runs"], now)
    now = int(time.time())
    data = Data(options.jobs, options.runs,
                datetime.datetime.fromtimestamp(now, datetime.timezone.utc))
    fill(data, url, place)
    if name == "postgresql":    # as autovacuum would do minutes later
        psql(url, "VACUUM ANALYZE")
    mark.write_text(json.dumps({"now": now, "jobs": data.jobs, "runs": data.runs}))
    return url, data


def psql(url, statement):
    subprocess.run(["psql", "-q", "-c", statement, url], check=True, stdout=subprocess.DEVNULL)


def ask(client, path, took, items):
    """Requests one page. Returns the path of the next page, or None."""
    start = time.perf_counter()
    text = client.ask("GET", path)
    took.append((time.perf_counter() - start) * 1000)
    if not text.startswith('{"items":'):
        return None
    answer = json.loads(text)
    items.append(len(answer["items"]))
    cursor = answer.get("next_cursor")
    if not cursor:
        return None
    bare = re.sub(r"&?cursor=[^&]*", "", path)
    return f"{bare}{'&' if '?' in bare else '?'}cursor={cursor}"


def measure(client, question):
    """Returns the milliseconds of every answer, sorted, and the number of items of a page."""
    for path in question.paths[:3]:
        ask(client, path, [], [])
    took, items, end = [], [], time.monotonic() + PATIENCE
    while len(took) < SAMPLES and (time.monotonic() < end or len(took) < FEWEST):
        for path in question.paths:
            for _ in range(question.pages):
                path = ask(client, path, took, items)
                if path is None:
                    break
    return sorted(took), max(items, default=0)


def at(took, share):
    return took[min(len(took) - 1, int(len(took) * share))]


def measure_store(name, place, options):
    """Returns (lines of the results, questions that miss the goal)."""
    lines, above = ["| question | p50 ms | p99 ms | worst ms | answers | items | |",
                    "|---|---|---|---|---|---|---|"], []
    with contextlib.ExitStack() as stack:
        url, data = prepared(stack, name, place, options)
        server = stack.enter_context(ksana_on(place, url, 4))
        client, others = Http(server.port), OthersShare()
        for question in all_questions(data):
            if options.match not in question.name:
                continue
            took, items = measure(client, question)
            verdict = "" if at(took, 0.99) <= GOAL else "**above**"
            lines.append(f"| {question.name} | {at(took, 0.5):.1f} | {at(took, 0.99):.1f} | "
                         f"{took[-1]:.1f} | {len(took)} | {items or ''} | {verdict} |")
            print("   " + lines[-1], flush=True)
            if verdict:
                above.append(question.name)
        share = others.so_far()
    load = f"others used {100 * share:.0f} % of the machine meanwhile"
    if share > QUIET:
        load += ": **not quiet, doubt the numbers**"
    count = len(lines) - 2
    said = f"{count - len(above)} of {count} questions within {GOAL} ms at p99"
    print(f"   {said}; {load}", flush=True)
    return [f"## {name}: {said}", "", f"{datetime.date.today()}; {data.jobs:,} jobs, "
            f"{data.runs:,} runs, {data.events:,} audit events; {load}.", ""] + lines, above


def save(sections):
    old = RESULTS.read_text() if RESULTS.exists() else ""
    kept = {re.match(r"## (\w+)", text).group(1): text.rstrip() + "\n"
            for text in re.split(r"(?m)^(?=## )", old) if text.startswith("## ")}
    kept.update({name: "\n".join(lines) + "\n" for name, lines in sections.items()})
    head = (f"# Benchmark: lists\n\n{platform.machine()}, {os.cpu_count()} cores, {cpu_name()}. "
            "Command: `./dev bench lists --save`. One client on one kept-alive connection, which "
            "shares the cores with the server and the database; milliseconds from the request to "
            "the last byte of the answer.\n\n")
    RESULTS.write_text(head + "\n".join(kept[name] for name in STORES if name in kept))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--only", default=",".join(STORES), metavar="STORE,…")
    parser.add_argument("--match", default="", metavar="TEXT")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1_000_000)
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [name for name in names if name not in STORES]
    if unknown:
        parser.error(f"no such store: {', '.join(unknown)}; there are: {', '.join(STORES)}")
    if not KSANA.exists():
        parser.error(f"{KSANA} is not there: run this through ./dev bench lists")
    for number in (signal.SIGTERM, signal.SIGHUP):      # so that the started processes are stopped
        signal.signal(number, lambda *_: sys.exit(1))
    sections, above = {}, []
    with contextlib.ExitStack() as stack:
        place = options.keep.resolve() if options.keep else stack.enter_context(folder())
        for name in names:
            print(name, flush=True)
            sections[name], slow = measure_store(name, place / name, options)
            above += slow
    if options.save:
        save(sections)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
