#!/usr/bin/env python3
"""Benchmark of the embeddable library: memory, lateness and rate of its jobs against Quartz with
RAMJobStore, the time to compile its header, and the cost of a Redis lock.

    ./dev bench library                     every part, as tables with goals
    ./dev bench library --only armed,fires  some parts: armed latency fires compiling redis
    ./dev bench library --save              also writes bench/results/library.md; parts that were
                                            not run keep their old results

Quartz comes from Debian's libquartz2-java and is driven by ../shared/bench/peers; without that
folder, the table says so.
"""
import sys

import part_runner        # from bench/, by PYTHONPATH
from parts import LOAD, PARTS

HEAD = ("Nothing is stored, and jobs take no lock, as in Quartz's RAMJobStore. Use the ratios, not "
        "the absolute numbers.")

if __name__ == "__main__":
    sys.exit(part_runner.run("library", PARTS, HEAD, LOAD))
