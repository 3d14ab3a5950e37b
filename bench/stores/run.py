#!/usr/bin/env python3
"""Benchmark of the stores at their interface, against bare programs on the same disk and server.

    ./dev bench stores            prints the table
    ./dev bench stores --save     also writes bench/results/stores.md
    ./dev bench stores --long [N] runs PostgreSQL for N minutes (3): does its rate hold?
"""
import argparse
import collections
import contextlib
import datetime
import itertools
import json
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ROOT / "build" / "bench" / "bench" / "stores"
START = ROOT / "tests" / "support" / "start_postgres.sh"

# Each measurement, its baseline, and the required ratio.
GOALS = [
    ("sqlite", "submit_16", "single submits, 16 threads", "bare group commit", 0.7),
    ("sqlite", "bulk", "submit in batches of 100, 4 threads", "bare prepared statements", 0.6),
    ("sqlite", "bulk_alone", "submit in batches of 100, 1 thread", "bare prepared statements", 0.6),
    ("sqlite", "drain", "claim and complete, 100 at a time, 4 threads",
     "bare prepared statements", 0.6),
    ("sqlite", "drain_alone", "claim and complete, 100 at a time, 1 thread",
     "bare prepared statements", 0.6),
    ("postgres", "submit_16", "single submits, 16 threads", "pgbench, one row, 16 clients", 2.0),
    ("postgres", "bulk", "submit in batches of 1,000", "bare libpq, unnest", 0.6),
    ("postgres", "drain_500", "claim and complete, 500 at a time, 2 threads",
     "bare libpq, one pipelined transaction", 0.6),
    ("postgres", "drain", "claim and complete, 100 at a time, 4 threads",
     "bare libpq, one pipelined transaction", 0.6),
    ("sqlite", "drain_unkept", "the same 100, 4 threads, runs of which nothing is kept",
     "bare prepared statements", 0.6),
    ("postgres", "drain_500_unkept", "the same 500, 2 threads, runs of which nothing is kept",
     "bare libpq, one pipelined transaction", 0.6),
    ("postgres", "drain_unkept", "the same 100, 4 threads, runs of which nothing is kept",
     "bare libpq, one pipelined transaction", 0.6),
]

# Ksana and the bare program take turns, and the medians are compared: the speed of the machine
# changes by the minute.
ROUNDS = 3

HOLDS = 0.85    # required ratio of the last third of a long run to the first


def rows(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def pgbench(url):
    """Returns single-row inserts a second by 16 clients."""
    subprocess.run(["psql", "-q", "-d", url, "-c",
                    "SET client_min_messages = warning; DROP TABLE IF EXISTS single; "
                    "CREATE TABLE single(id bigserial PRIMARY KEY, payload text NOT NULL)"],
                   check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write("INSERT INTO single(payload) VALUES (repeat('p', 100));\n")
        script.flush()
        program = shutil.which("pgbench") or sorted(
            pathlib.Path("/usr/lib/postgresql").glob("*/bin/pgbench"))[-1]
        text = subprocess.run([program, "-n", "-M", "prepared", "-c", "16", "-j", "2", "-T", "3",
                               "-f", script.name, "-d", url], capture_output=True, text=True,
                              check=True).stdout
    return float(re.search(r"tps = ([0-9.]+)", text).group(1))


def forget(url):
    """Drops the schemas of earlier parts. Otherwise their remains would be vacuumed and written
    during the next part, while the bare program begins with everything written."""
    schemas = subprocess.run(
        ["psql", "-qAt", "-d", url, "-c", "SELECT nspname FROM pg_namespace WHERE nspname LIKE "
         "'bench\\_%'"], capture_output=True, text=True, check=True).stdout.split()
    for schema in schemas:
        subprocess.run(["psql", "-q", "-d", url, "-c", "SET client_min_messages = warning",
                        "-c", f"DROP SCHEMA {schema} CASCADE"], check=True)
    subprocess.run(["psql", "-q", "-d", url, "-c", "CHECKPOINT"], check=True)


@contextlib.contextmanager
def postgres():
    """Starts a PostgreSQL server with its default settings, and yields its URL."""
    server = tempfile.mkdtemp(prefix="ksana_bench_server_")
    try:
        yield subprocess.run(["bash", START, server], capture_output=True, text=True,
                             check=True).stdout.strip()
    finally:
        subprocess.run(["bash", START, "stop", server], check=True)
        shutil.rmtree(server, ignore_errors=True)


def hold(minutes):
    """Checks whether PostgreSQL keeps its rate over minutes of submitting and draining with vacuum.

    Comparing the thirds alone is not enough: before the first ANALYZE, which comes within a minute,
    a query plan for an empty table can slow down the beginning, and the end looks good against it.
    """
    with postgres() as url:
        measured = rows(PROGRAMS / "ksana_stores_bench", "postgres", url, f"steady={minutes}")
        vacuums = subprocess.run(
            ["psql", "-qAt", "-d", url, "-c", "SELECT coalesce(sum(autovacuum_count), 0) "
             "FROM pg_stat_user_tables"], capture_output=True, text=True, check=True).stdout.strip()
    rates = [row["value"] for row in measured]
    third = len(rates) // 3
    first, last = sum(rates[:third]) / third, sum(rates[-third:]) / third
    lines = [f"PostgreSQL, as many submitted as finished for {minutes} minutes, {vacuums} "
             "autovacuums. Finished a second in each 20 s:", "",
             " ".join(f"{rate:,.0f}" for rate in rates), "",
             f"First third {first:,.0f}, last third {last:,.0f}: {last / first:.2f}, goal "
             f"{HOLDS}: {'met' if last / first >= HOLDS else 'missed'}. The slowest slice has "
             f"{min(rates) / max(rates):.2f} of the fastest."]
    return "\n".join(lines)


def measure_sqlite():
    with tempfile.TemporaryDirectory(prefix="ksana_bench_", dir=ROOT / "build") as folder:
        files = str(pathlib.Path(folder) / "sqlite")
        for _ in range(ROUNDS):
            yield from rows(PROGRAMS / "ksana_bare_bench", "sqlite", files)
            for part in ("submit", "bulk", "drain", "drain_alone", "drain_unkept"):
                yield from rows(PROGRAMS / "ksana_stores_bench", "sqlite", files, part)
        for part in ("latency", "lists"):
            yield from rows(PROGRAMS / "ksana_stores_bench", "sqlite", files, part)


def measure_postgres():
    with postgres() as url:
        def ours(part):
            forget(url)
            return rows(PROGRAMS / "ksana_stores_bench", "postgres", url, part)
        for _ in range(ROUNDS):
            forget(url)
            yield from rows(PROGRAMS / "ksana_bare_bench", "postgres", url)
            yield {"driver": "bare postgres", "what": "submit_16", "value": pgbench(url)}
            for part in ("submit", "bulk", "drain", "drain_500", "drain_unkept",
                         "drain_500_unkept"):
                yield from ours(part)
        for part in ("latency", "lists"):
            yield from ours(part)


def measure():
    """Returns the median of each measurement, by driver and name."""
    values = collections.defaultdict(list)
    for row in itertools.chain(measure_sqlite(), measure_postgres()):
        values[(row["driver"], row["what"])].append(row["value"])
    found = {key: statistics.median(some) for key, some in values.items()}
    found[("memory", "bytes")] = rows(PROGRAMS / "ksana_memory_bench")[0]["bytes"]
    return found


def same_of_bare(what):
    for ending in ("_alone", "_unkept"):
        what = what.removesuffix(ending)
    return what


def table(found):
    lines = ["| store | what | a second | against | a second | ratio | goal | |",
             "|---|---|---|---|---|---|---|---|"]
    for driver, what, words, against, goal in GOALS:
        ours, bare = found[(driver, what)], found[(f"bare {driver}", same_of_bare(what))]
        ratio = ours / bare
        lines.append(f"| {driver} | {words} | {ours:,.0f} | {against} | {bare:,.0f} | {ratio:.2f} "
                     f"| {goal} | {'met' if ratio >= goal else 'missed'} |")
    for driver in ("sqlite", "postgres"):
        first, last = found[(driver, "page_1")], found[(driver, "page_1000")]
        ratio = last / first
        lines.append(f"| {driver} | page 1,000 of 1 M runs | {last:.0f} µs | page 1 | {first:.0f} "
                     f"µs | {ratio:.2f} | 2.0 | {'met' if ratio <= 2 else 'missed'} |")
    used = found[("memory", "bytes")]
    lines.append(f"| memory | 1 M jobs | {used / 1e6:,.0f} MB | 1 GB | | {used / 1e9:.2f} | 1.0 | "
                 f"{'met' if used < 1e9 else 'missed'} |")
    lines += ["", "One submit at a time: " + ", ".join(
        f"{driver} p50 {found[(driver, 'submit_p50')]:.0f} µs, "
        f"p99 {found[(driver, 'submit_p99')]:.0f} µs" for driver in ("sqlite", "postgres")) + "."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--long", type=int, nargs="?", const=3, metavar="MINUTES")
    words = parser.parse_args()
    if words.long:
        print(hold(words.long))
        return
    text = table(measure())
    print(text)
    if words.save:
        head = (f"# Benchmark: stores\n\n{datetime.date.today()}, "
                f"{platform.machine()}, 2 cores. Command: `./dev bench stores --save`. Durable "
                "(SQLite synchronous=FULL, PostgreSQL fsync on); use the ratios, not the absolute "
                f"numbers. Medians of {ROUNDS} rounds in which ours and bare take turns.\n\n")
        (ROOT / "bench" / "results" / "stores.md").write_text(head + text + "\n")


if __name__ == "__main__":
    main()
