#!/usr/bin/env python3
"""The task queue: submits and agents over HTTP, handlers in the process, and how long a task waits
for a free one.

    ./dev bench queue                       every part, as tables with goals
    ./dev bench queue --only drain,latency  some parts: submit bulk drain handlers latency depth
    ./dev bench queue --save                also writes bench/results/queue.md; the parts that were
                                            not run stay there as they are

SQLite is durable (synchronous=FULL), so is PostgreSQL (fsync, synchronous_commit); each rival's
durability is named with it. Rivals come from ../shared/bench/peers; where that is not there, the
table says so. KSANA_BENCH_BINARY names another ksana than build/release/ksana.
"""
import sys

import part_runner        # of bench/, by PYTHONPATH
from parts import PARTS

HEAD = ("Durable: SQLite synchronous=FULL, PostgreSQL fsync and synchronous_commit on, as "
        "pg-boss and graphile-worker have it. Server, load and agents share the cores. Use the "
        "ratios, not the absolute numbers.")

if __name__ == "__main__":
    sys.exit(part_runner.run("queue", PARTS, HEAD))
