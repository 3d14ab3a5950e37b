"""The parts of `./dev bench timer`. Each adds its rows to a Report."""
import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time

import job_file
import rivals
from machine import (BUILD, KSANA, PROGRAMS, Http, cpu_by_thread, cpu_seconds, folder, ksana,
                     memory, micros, nginx, target, wait_for)
from report import tell_cpu

HERE = pathlib.Path(__file__).resolve().parent
SECOND = 1_000_000
READY_BEFORE = 3 * SECOND   # how long before the first fire the server must be ready
ENOUGH_WORKERS = 256


def load_for(stack, place, lead, jobs_of, workers):
    """Starts a server with the jobs in its store. Returns (time of the first fire, server). The
    server ends with the stack. If it is not ready early enough, starts again with more time."""
    for attempt in range(1, 5):
        start = (micros() // SECOND + lead * attempt) * SECOND
        store = place / f"jobs_{attempt}.db"
        job_file.import_jobs(KSANA, store, place, micros(), jobs_of(start))
        if micros() <= start - READY_BEFORE:
            server = stack.enter_context(ksana(store, workers))
            if micros() <= start - READY_BEFORE:
                return start, server
            stack.close()
    raise TimeoutError("the machine is too busy: the server was not ready before the first fire")


def await_calls(call_target, expected, patience):
    """Waits until `expected` calls have come, or none has come for some seconds."""
    last, since, end = -1, time.monotonic(), time.monotonic() + patience
    while time.monotonic() < end:
        count = call_target.count()["count"]
        if count >= expected:
            return
        if count != last:
            last, since = count, time.monotonic()
        elif time.monotonic() - since > 6:
            return
        time.sleep(0.1)


def sleep_until(instant):
    time.sleep(max(0, (instant - micros()) / SECOND))


def tell_insides(report, server, prefix=""):
    """Adds the server's own metrics, which show where lateness comes from."""
    found = server.metrics()
    started = found["ksana_start_lateness_seconds_count"] or 1
    report.add(f"{prefix}mean lateness when a call starts, by the server",
               1000 * found["ksana_start_lateness_seconds_sum"] / started, " ms")
    report.add(f"{prefix}calls for one commit of the store",
               started / found["ksana_store_commits_total"], "")
    bad = server.ended_badly()
    if bad:
        report.row(f"{prefix}runs that did not succeed",
                   ", ".join(f"{count:,} {state}" for state, count in bad.items()))


def oneshot(report, jobs=10_000, window=10):
    with folder() as place, target() as calls, contextlib.ExitStack() as stack:
        def jobs_of(start):
            return ((f"once-{i}", calls.url, job_file.once(start + i * window * SECOND // jobs))
                    for i in range(jobs))
        start, server = load_for(stack, place, 8, jobs_of, ENOUGH_WORKERS)
        before = cpu_by_thread(server.pid)
        sleep_until(start + window * SECOND)
        await_calls(calls, jobs, 30)
        own = calls.stats()
        tell_cpu(report, server, before, jobs)
        tell_insides(report, server)
    report.fires(own, jobs)
    report.add("lateness p50", own["p50"], " ms", 2)
    report.add("lateness p99", own["p99"], " ms", 10)
    report.add("lateness max", own["max"], " ms", 50)
    for name, theirs in rivals.measure(jobs, window * 1000).items():
        if isinstance(theirs, str):
            report.row(f"{name}", f"not measured: {theirs}")
            continue
        report.row(f"{name}: p50 / p99 / max", " / ".join(
            f"{theirs[key]:.1f}" for key in ("p50", "p99", "max")) + " ms")
        for key in ("p50", "p99"):
            report.add(f"{key} against {name}", own[key] / theirs[key], "", 0.1, digits=3)


def recur(report, jobs, seconds, goal_ms, must):
    name = f"{jobs:,} jobs for {seconds} s"
    with folder() as place, target() as calls, contextlib.ExitStack() as stack:
        def jobs_of(start):
            return ((f"every-{i}", calls.url, job_file.every_second(start + i * SECOND // jobs))
                    for i in range(jobs))
        start, server = load_for(stack, place, 8 + jobs // 3000, jobs_of, ENOUGH_WORKERS)
        before = cpu_by_thread(server.pid)
        end = start + seconds * SECOND
        sleep_until(end)
        tell_cpu(report, server, before, calls.count()["count"], f"{name}: ")
        # Fires continue. Late fires of the window may still come.
        sleep_until(end + 2 * SECOND)
        found = calls.stats(start, end)
        if found["distinct"] < jobs * seconds:
            sleep_until(end + 6 * SECOND)
            found = calls.stats(start, end)
        tell_insides(report, server, f"{name}: ")
    if must:
        report.fires(found, jobs * seconds)
    else:
        report.add(f"{name}: fires that came", 100 * found["distinct"] / (jobs * seconds), " %")
    report.add(f"{name}: lateness p50", found["p50"], " ms")
    report.add(f"{name}: lateness p99", found["p99"], " ms", goal_ms)
    report.add(f"{name}: lateness max", found["max"], " ms")


def recurring(report):
    """The phases of the jobs are spread evenly over the second."""
    recur(report, 10_000, 60, 50, True)
    recur(report, 20_000, 15, None, False)
    recur(report, 30_000, 15, 1000, False)


def million_store():
    """Returns a store that is made once: half one-shot jobs, half cron jobs, none due in the
    next months."""
    today = datetime.date.today()
    month = (today.month + 5) % 12 + 1
    year = today.year + (month < today.month)
    cache = BUILD / "bench-data" / f"million_{year}_{month:02}.db"
    if cache.exists():
        return cache
    print("   making the store with a million jobs; it is kept", flush=True)
    cache.parent.mkdir(parents=True, exist_ok=True)
    with folder() as place:
        url = "http://127.0.0.1:9/call"
        job_file.import_jobs(
            KSANA, place / "made.db", place, micros(),
            ((f"job-{i:07}", url, job_file.once(job_file.FAR + i * 1000) if i % 2 else
              job_file.yearly(month, year, i)) for i in range(1_000_000)))
        os.replace(place / "made.db", cache)
    return cache


def make_ticking_job(store, url, every):
    """Adds a job through the API of a server, and stops the server."""
    with ksana(store, 4) as server:
        server.ask("POST", "/jobs", {
            "id": "tick", "name": "tick", "type": "http", "http": {"method": "GET", "url": url},
            "schedule": {"kind": "every", "every": every}, "max_retries": 0})


def million(report):
    cache = million_store()
    with folder() as place, target() as calls:
        store = place / "ksana.db"
        shutil.copyfile(cache, store)
        make_ticking_job(store, calls.url, "100ms")
        calls.reset()
        start = micros()
        with ksana(store, 4) as server:
            first = wait_for(lambda: calls.count()["first_us"], 120, "the first fire")
            report.add("start to first fire", (first - start) / SECOND, " s", 5)
            server.ask("POST", "/jobs/tick/pause")
            time.sleep(5)
            before = cpu_seconds(server.pid)
            time.sleep(20)
            used = cpu_seconds(server.pid) - before
            report.add("idle CPU over 20 s", 100 * used / 20, " %", 1, digits=3)
            rss, pss = memory(server.pid)
            report.add("RSS", rss * 1.048576, " MB", 300, digits=0)
            report.add("PSS", pss * 1.048576, " MB", digits=0)


def idle(report):
    with folder() as place, target() as calls:
        with ksana(place / "empty.db", 4) as server:
            time.sleep(2)
            rss, pss = memory(server.pid)
            before = cpu_seconds(server.pid)
            time.sleep(3)
            used = cpu_seconds(server.pid) - before
        report.add("RSS of an empty server", rss, " MiB", 16)
        report.add("PSS of an empty server", pss, " MiB")
        report.add("its CPU over 3 s", 100 * used / 3, " %", digits=3)
        store = place / "tick.db"
        make_ticking_job(store, calls.url, "10ms")
        times = []
        for _ in range(9):
            calls.reset()
            start = micros()
            with ksana(store, 4):
                first = wait_for(lambda: calls.count()["first_us"], 20, "the first fire", 0.002)
                times.append((first - start) / 1000)
        report.add("cold start to first call, median of 9", statistics.median(times), " ms", 50,
                   digits=1)
        report.add("cold start, slowest", max(times), " ms", digits=1)


def bare_calls(url):
    done = subprocess.run([PROGRAMS / "ksana_bare_calls", url, "64", "3"], capture_output=True,
                          text=True, check=True, timeout=60)
    return json.loads(done.stdout)["calls_per_s"]


def callbacks(report, jobs=20_000):
    with folder() as place, nginx(place) as port, contextlib.ExitStack() as stack:
        url = f"http://127.0.0.1:{port}/cb"
        bare = [bare_calls(url)]
        start, server = load_for(
            stack, place, 8,
            lambda start: ((f"due-{i}", url, job_file.once(start)) for i in range(jobs)), 64)
        status = Http(port)
        before, cpu_before = requests_of(status), cpu_by_thread(server.pid)
        sleep_until(start)
        # Asks nginx, which is cheap, until most calls are done; then waits for the results, as they
        # must be durable.
        while requests_of(status) - before < jobs * 0.9 and micros() < start + 60 * SECOND:
            time.sleep(0.02)
        succeeded = 'ksana_runs_finished_total{state="succeeded"}'
        wait_for(lambda: server.metrics()[succeeded] >= jobs, 30, "the results", 0.02)
        rate = jobs / ((micros() - start) / SECOND)
        tell_cpu(report, server, cpu_before, jobs)
        tell_insides(report, server)
        stack.close()
        bare.append(bare_calls(url))
    mean = sum(bare) / len(bare)
    report.add("calls a second, from the due time to the last durable result", rate, "")
    report.add("bare libcurl multi loop, 64 in flight, before and after", mean, "")
    report.add("ratio", rate / mean, "", 0.6, at_least=True)


def requests_of(status):
    """Returns the number of requests that nginx has had, including this one."""
    return int(re.search(r"requests\s+\d+ \d+ (\d+)", status.ask("GET", "/status")).group(1))


def wrk(server, script, seconds, *words):
    done = subprocess.run(["wrk", "-t1", "-c16", f"-d{seconds}s", "-s", HERE / script,
                           f"http://127.0.0.1:{server.port}", "--", *map(str, words)],
                          capture_output=True, text=True, check=True, timeout=seconds + 60)
    found = json.loads(done.stdout.splitlines()[-1])
    if found["bad"]:
        raise RuntimeError(f"{script}: {found['bad']} of {found['requests']} were refused")
    return found


def api(report, stored=10_000):
    with folder() as place:
        store = place / "ksana.db"
        job_file.import_jobs(KSANA, store, place, micros(), (
            (f"stored-{i}", "http://127.0.0.1:9/call", job_file.once(job_file.FAR))
            for i in range(stored)))
        with ksana(store, 4) as server:
            for name, script, goal in (("GET /jobs/{id}", "get_jobs.lua", 25_000),
                                       ("POST /jobs", "post_jobs.lua", 10_000)):
                before = cpu_by_thread(server.pid)
                found = wrk(server, script, 6, stored)
                report.add(f"{name}, 16 clients, a second", found["requests"] / found["seconds"],
                           "", goal, at_least=True)
                report.row(f"{name}: p50 / p99",
                           f"{found['p50_ms']:.2f} / {found['p99_ms']:.2f} ms")
                tell_cpu(report, server, before, found["requests"], f"{name}: ")


PARTS = {"oneshot": (oneshot, "10,000 one-shot jobs due over 10 s"),
         "recurring": (recurring, "jobs every second, their phases spread over it"),
         "million": (million, "1,000,000 stored jobs, none due"),
         "idle": (idle, "an empty server, and its start"),
         "callbacks": (callbacks, "20,000 runs due at once, to nginx 204, WORKERS=64"),
         "api": (api, "requests over 16 kept-alive connections (wrk)")}
