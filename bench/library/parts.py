"""The parts of `./dev bench library`. Each adds its rows to a Report."""
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import time

import quartz
from machine import BUILD, ROOT, folder

PROGRAMS = BUILD / "bench" / "bench"
LOAD = PROGRAMS / "library" / "ksana_library_load"
REDIS_TRY = PROGRAMS / "locks" / "ksana_redis_lock_bench"
START_REDIS = ROOT / "tests" / "support" / "start_redis.sh"
TEN_JOBS = pathlib.Path(__file__).resolve().parent / "ten_jobs.cpp"


def load(*words):
    """Runs the program that embeds the library, and returns its answer."""
    done = subprocess.run([LOAD, *map(str, words)], capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"ksana_library_load: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def armed(report, jobs=100_000):
    for kind, words in (("rate", "fixed rates with a delay each"), ("cron", "one cron for all")):
        found = load("armed", kind, jobs)
        report.add(f"{words}: bytes for a job", found["bytes"], "", digits=0)
        report.add(f"{words}: bytes for a declaration that nothing reads",
                   found["declaration_bytes"], "", digits=0)
        report.add(f"{words}: bytes beyond the declaration", found["beyond_bytes"], "", 200,
                   digits=0)
        report.add(f"{words}: threads more than before",
                   found["threads"] - found["threads_before"], "", 0, digits=0)
        report.add(f"{words}: time to add a job", found["add_ns"] / 1000, " µs")


def tell_lateness(report, name, found, p50=None, p99=None):
    report.row(f"{name}: runs", f"{found['count']:,} of {found['expected']:,}; "
                                f"skipped {found['skipped']:,}")
    report.add(f"{name}, p50", found["p50_us"], " µs", p50, digits=1)
    report.add(f"{name}, p99", found["p99_us"], " µs", p99, digits=1)
    report.row(f"{name}, p99.9 / max; the earliest",
               f"{found['p999_us']:,.0f} / {found['max_us']:,.0f}; {found['min_us']:,.0f} µs")


def latency(report, rate=10_000, seconds=5, rounds=3):
    """The best of several rounds, by p99, of Ksana and of Quartz: other processes make rounds
    worse. No goal compares the two: Quartz starts a job up to 2 ms before it is due, so its p50 may
    be negative."""
    def best(*words):
        return min((load(*words) for _ in range(rounds)), key=lambda found: found["p99_us"])
    bare = best("bare", rate, seconds)
    spread = best("latency", rate, seconds)
    together = best("latency", rate, seconds, 10)
    tell_lateness(report, "a bare thread that sleeps until each time", bare)
    tell_lateness(report, "spread evenly", spread, 20, 1000)
    tell_lateness(report, "ten at each millisecond", together, None, 1000)
    problem = quartz.prepare()
    if problem:
        report.row("Quartz", f"not measured: {problem}")
        return
    for threads in (2, 10):
        found = min((quartz.run("recur", rate, threads) for _ in range(rounds)),
                    key=lambda one: one["lateness_p99"])
        name = f"Quartz, {threads} threads, ten at each millisecond, may be early"
        report.row(f"{name}: fires", f"{100 * found['expected_ratio']:.0f} %")
        report.row(f"{name}: p50 / p99 / max", " / ".join(
            f"{1000 * found['lateness_' + key]:,.0f}" for key in ("p50", "p99", "max")) + " µs")


def quartz_fires(report, jobs, rounds):
    """Returns Quartz's best rate, or None. Its jobs are due once (drain), or every second and more
    of them than it can fire (recur)."""
    problem = quartz.prepare()
    if problem:
        report.row("Quartz", f"not measured: {problem}")
        return None
    rates = []
    for threads in (2, 10):
        for workload, words, metric in (("drain", "due once", "jobs_per_s"),
                                        ("recur", "every second", "fires_per_s")):
            rates.append(max(quartz.run(workload, jobs, threads)[metric]
                             for _ in range(rounds)))
            report.add(f"Quartz, {threads} threads, {jobs:,} jobs {words}, fires a second",
                       rates[-1], "")
    return max(rates)


def fires(report, seconds=3, rounds=3, many=200_000):
    """The best of several rounds, of Ksana and of Quartz. They are compared with the same number of
    jobs: `many`, as Quartz's are due every second and must be more than it can fire."""
    def best(name, *words, goal=None):
        found = max((load(*words) for _ in range(rounds)), key=lambda one: one["per_second"])
        report.add(f"{name}, runs a second", found["per_second"], "", goal, at_least=True)
        report.add(f"{name}, CPU of a run", found["cpu_ns"], " ns", digits=0)
        return found["per_second"]
    rates = [best(f"10,000 plain jobs, {threads} thread{'s' * (threads > 1)}", "fires", "plain",
                  seconds, threads) for threads in (1, 2)]
    best("coroutines, 2 threads", "fires", "coroutine", seconds, 2)
    best("Trigger from one thread, 2 threads", "trigger", seconds, 2)
    own = [best(f"{many:,} plain jobs, {threads} thread{'s' * (threads > 1)}", "fires", "plain",
                seconds, threads, many) for threads in (1, 2)]
    theirs = quartz_fires(report, many, rounds)
    if theirs:
        report.add(f"{many:,} plain jobs, against Quartz's best", max(own) / theirs, "", 10,
                   at_least=True, digits=1)
    report.add("10,000 plain jobs, the aim", max(rates), "", 1_000_000, at_least=True)


def compile_seconds(compiler, level):
    """Returns (CPU seconds, elapsed seconds) of one compilation."""
    with folder() as place:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([compiler, "-std=c++20", level, "-Wall", "-Wextra", f"-I{ROOT}/include",
                        f"-I{ROOT}/src", "-c", TEN_JOBS, "-o", place / "ten_jobs.o"], check=True,
                       env={**os.environ, "CCACHE_DISABLE": "1"})
        after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, end - start)


def compiling(report, rounds=5):
    for compiler in ("g++", "clang++-19"):
        if not shutil.which(compiler):
            report.row(compiler, "not measured: it is not installed")
            continue
        for level in ("-O0", "-O2"):
            times = [compile_seconds(compiler, level) for _ in range(rounds)]
            used, elapsed = (statistics.median(column) for column in zip(*times))
            report.add(f"{compiler} {level}, elapsed, median of {rounds}", elapsed, " s", 2)
            report.add(f"{compiler} {level}, CPU, median of {rounds}", used, " s")


def redis(report, tries=20_000, rounds=3):
    with folder() as place:
        done = subprocess.run(["bash", START_REDIS, place / "redis"], capture_output=True,
                              text=True, check=True)
        try:
            texts = [subprocess.run([REDIS_TRY, done.stdout.strip(), str(tries)],
                                    capture_output=True, text=True, check=True,
                                    timeout=300).stdout for _ in range(rounds)]
        finally:
            subprocess.run(["bash", START_REDIS, "stop", place / "redis"], check=True)
    pattern = r"p50 ([\d.]+) us, Try p50 ([\d.]+) us, ratio ([\d.]+)"
    found = sorted(([float(part) for part in re.search(pattern, text).groups()] for text in texts),
                   key=lambda numbers: numbers[2])
    bare, own, ratio = found[rounds // 2]
    report.add("bare SET NX PX, p50", bare, " µs", digits=1)
    report.add("a try of a free lock, p50", own, " µs", digits=1)
    report.add(f"ratio, median of {rounds}", ratio, "", 1.2, digits=3)


PARTS = {"armed": (armed, "memory and threads of 100,000 jobs that wait"),
         "latency": (latency, "from due to handler, 10,000 jobs a second; best of 3 rounds"),
         "fires": (fires, "runs of no-op jobs that are always due; best of 3 rounds"),
         "compiling": (compiling, "time to compile a file with the public header and ten jobs"),
         "redis": (redis, "a try of a free Redis lock against a bare round trip")}
