#!/usr/bin/env python3
"""Benchmark of several servers and workers on one PostgreSQL.

    ./dev bench cluster                       every part, as tables with goals
    ./dev bench cluster --only servers,idle   some parts: servers claimers failover idle
                                              worker commands
    ./dev bench cluster --save                also writes bench/results/cluster.md; parts that were
                                              not run keep their old results

Ratios compare two measurements of the same run. KSANA_BENCH_BINARY names a ksana other than
build/release/ksana.
"""
import sys

import part_runner        # from bench/, by PYTHONPATH
from parts import PARTS

HEAD = ("PostgreSQL with fsync and synchronous_commit on. Servers, database, load, agents and "
        "workers share the cores. Use the ratios, not the absolute numbers.")

if __name__ == "__main__":
    sys.exit(part_runner.run("cluster", PARTS, HEAD))
