#!/usr/bin/env python3
"""Benchmark of tasks through RabbitMQ, and of what traces cost.

    ./dev bench broker                    every part, as tables with goals
    ./dev bench broker --only tasks       some parts: tasks traces parents
    ./dev bench broker --save             also writes bench/results/broker.md; parts that were not
                                          run keep their old results

Ratios compare two measurements of the same run. KSANA_BENCH_BINARY names a ksana other than
build/release/ksana.
"""
import sys

import part_runner        # from bench/, by PYTHONPATH
from parts import PARTS

HEAD = ("SQLite synchronous=FULL; RabbitMQ with persistent messages and confirms. Server, broker, "
        "load and consumers share the cores. Use the ratios, not the absolute numbers.")

if __name__ == "__main__":
    sys.exit(part_runner.run("broker", PARTS, HEAD))
