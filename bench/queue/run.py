#!/usr/bin/env python3
"""Benchmark of the task queue: submits and agents over HTTP, handlers in the process, and the time
that a task waits for a free agent or handler.

    ./dev bench queue                       every part, as tables with goals
    ./dev bench queue --only drain,latency  some parts: submit bulk drain handlers latency depth
    ./dev bench queue --save                also writes bench/results/queue.md; parts that were not
                                            run keep their old results

SQLite (synchronous=FULL) and PostgreSQL (fsync, synchronous_commit) are durable; each rival is
shown with its durability. Rivals come from ../shared/bench/peers; without that folder, the table
says so. KSANA_BENCH_BINARY names a ksana other than build/release/ksana.
"""
import sys

import part_runner        # from bench/, by PYTHONPATH
from parts import PARTS

HEAD = ("Durable: SQLite synchronous=FULL, PostgreSQL fsync and synchronous_commit on, as "
        "pg-boss and graphile-worker have it. Server, load and agents share the cores. Use the "
        "ratios, not the absolute numbers.")

if __name__ == "__main__":
    sys.exit(part_runner.run("queue", PARTS, HEAD))
