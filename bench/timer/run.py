#!/usr/bin/env python3
"""Benchmark of the timer service: lateness, throughput, CPU and memory.

    ./dev bench timer                  every part, as tables with goals
    ./dev bench timer --only idle,api  some parts: oneshot recurring million idle callbacks api
    ./dev bench timer --save           also writes bench/results/timer.md; parts that were not run
                                       keep their old results

The server uses durable SQLite (synchronous=FULL). Rivals come from ../shared/bench/peers; without
that folder, the table says so. KSANA_BENCH_BINARY names a ksana other than build/release/ksana.
"""
import sys

import part_runner        # from bench/, by PYTHONPATH
from parts import PARTS

HEAD = ("Durable (SQLite synchronous=FULL); server, target and clients share the cores. Use the "
        "ratios, not the absolute numbers.")

if __name__ == "__main__":
    sys.exit(part_runner.run("timer", PARTS, HEAD))
