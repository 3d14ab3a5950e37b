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
import sys

import part_runner        # of bench/, by PYTHONPATH
from parts import PARTS

HEAD = ("Durable (SQLite synchronous=FULL); server, target and clients share the cores. Use the "
        "ratios, not the absolute numbers.")

if __name__ == "__main__":
    sys.exit(part_runner.run("timer", PARTS, HEAD))
