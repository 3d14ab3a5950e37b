#!/usr/bin/env python3
"""Repeated kill -9 of the server under load.

usage: kill_cases.py KSANA STORE [KILLS [SEED]]      STORE: sqlite, json, postgres

The default number of kills is KSANA_KILLS, or 10. KSANA_RELEASE may name another program.

Afterwards the store has every acknowledged job, every nominal fire has exactly one entry in the
ledger (a run, or a range of missed fires), and each restart fired within two seconds.
"""
import contextlib
import http.client
import json
import os
import random
import subprocess
import threading
import time
from collections import Counter
from datetime import datetime, timezone

from kit.cases import arguments, case, run, say
from kit.checks import Failure, check, equal
from kit.postgres import store_of
from kit.server import Server
from kit.targets import Target
from kit.times import after, time_of
from kit.waiting import let_pass, wait_on

# Seconds from the start of the process to the first call.
FIRST_FIRE = 2.0
# An unoptimised build reads a log of JSON lines ten times slower than a release build.
FIRST_FIRE_UNOPTIMISED = {"sqlite": 2.0, "postgres": 2.0, "json": 5.0}
LONGEST_LIFE = 1.2      # seconds until the next kill
# Number of jobs, and seconds between two calls of the client. Without these limits, a few hundred
# kills would accumulate more fires than a store can process; and the JSON store reads all runs at
# its start.
MOST_JOBS = {"sqlite": 500, "postgres": 500, "json": 100}
PAUSE = {"sqlite": 0, "postgres": 0, "json": 0.005}


def micros(text):
    instant = time_of(text)
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    return round((instant - epoch).total_seconds() * 1_000_000)


class Clients(threading.Thread):
    """A client that creates jobs, starts runs and deletes jobs. Remembers what the server has
    acknowledged."""

    def __init__(self, server, target, seed, kind):
        super().__init__(daemon=True)
        self.server, self.target, self.random = server, target, random.Random(seed)
        self.created, self.runs, self.ended = {}, [], threading.Event()
        self.leaving = None     # a job whose deletion is not acknowledged yet
        self.number, self.most_jobs, self.pause = 0, MOST_JOBS[kind], PAUSE[kind]

    def run(self):
        while not self.ended.is_set():
            try:
                self.step()
                self.ended.wait(self.pause)
            except (OSError, ValueError, Failure, http.client.HTTPException):
                self.ended.wait(0.01)   # the server is down, or was killed during its answer

    def step(self):
        if self.leaving:
            self.server.request("DELETE", f"/jobs/{self.leaving}")
            self.leaving = None
        choice = self.random.random()
        full = len(self.created) >= self.most_jobs
        if (choice < 0.6 and not full) or not self.created:
            self.create()
        elif choice < 0.9:
            job = self.random.choice(list(self.created))
            answer = self.server.call("POST", f"/jobs/{job}/run-now", expect=202)
            self.runs.append(answer["run_id"])
        else:
            job = self.random.choice(list(self.created))
            self.created.pop(job)
            self.leaving = job

    def create(self):
        self.number += 1
        name = f"job-{self.number}"
        if self.random.random() < 0.3:
            schedule = {"kind": "once", "run_at": after(self.random.uniform(0, 2))}
        else:
            schedule = {"kind": "every", "every": f"{self.random.randint(150, 900)}ms"}
        grace = self.random.choice(["1ms", "50ms", "5s"])  # some fires of the downtime are missed
        self.server.create(id=name, schedule=schedule, overlap="allow", misfire={"grace": grace},
                           http={"method": "POST", "url": self.target.url + "/ok"})
        self.created[name] = schedule


def export(server):
    store = server.store
    if store in ("sqlite", "json"):
        name = "ksana.db" if store == "sqlite" else "jobs.json"
        store = f"{store}:{os.path.join(server.folder, 'data', name)}"
    lines = subprocess.run([server.binary, "export", "--store", store], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    records = [json.loads(line) for line in lines]
    return {kind: [record[kind] for record in records if kind in record]
            for kind in ("job", "run", "ledger")}


def nominals(job):
    """Returns every fire of the job up to its cursor."""
    until = micros(job["planned_until"])
    schedule = job["schedule"]
    if schedule.get("kind", "once") == "once":
        run_at = micros(schedule["run_at"])
        return [run_at] if run_at <= until else []
    created, step = micros(job["created_at"]), micros_of(schedule["every"])
    return list(range(created + step, until + 1, step))


def micros_of(duration):
    check(duration.endswith("ms") or duration.endswith("s"), duration)
    if duration.endswith("ms"):
        return int(duration[:-2]) * 1000
    return round(float(duration[:-1]) * 1_000_000)


def check_ledger(content):
    runs, ranges = {}, {}
    for run in content["run"]:
        if "nominal_at" in run:
            runs.setdefault(run["job_id"], Counter())[micros(run["nominal_at"])] += 1
    for entry in content["ledger"]:
        ranges.setdefault(entry["job_id"], []).append(entry)
    fires = missed = 0
    for job in content["job"]:
        covered = Counter(runs.get(job["id"], {}))
        expected = nominals(job)
        for entry in ranges.get(job["id"], []):
            first, last = micros(entry["first"]), micros(entry["last"])
            inside = [nominal for nominal in expected if first <= nominal <= last]
            check(len(inside) == entry["count"], f"{job['id']}: {entry} counts {len(inside)}")
            covered.update(inside)
            missed += len(inside)
        for nominal in expected:
            check(covered[nominal] == 1, f"{job['id']}: fire {nominal} has {covered[nominal]} "
                  f"entries; {ranges.get(job['id'])}")
        others = sorted(set(covered) - set(expected))
        check(not others, f"{job['id']}: entries that are no fires: {others}; {job}")
        fires += len(expected)
    return fires, missed


def kill_once(server, target, chance, limit):
    before = len(target.calls)
    started = time.monotonic()
    server.start()
    wait_on(target.changed, lambda: len(target.calls) > before,
            f"a fire within {limit} s of the start", max(0, limit - (time.monotonic() - started)))
    first = time.monotonic() - started
    let_pass(chance.uniform(0, LONGEST_LIFE), "the kill comes at a random moment")
    server.kill()
    return first


@case
def acknowledged_work_survives_kills(server, target, options):
    clients = Clients(server, target, options.seed, options.store)
    chance = random.Random(options.seed)
    server.start()
    server.create(id="beat", schedule={"kind": "every", "every": "100ms"}, overlap="allow",
                  http={"method": "GET", "url": target.url + "/beat"})
    clients.start()
    try:
        let_pass(chance.uniform(0.2, LONGEST_LIFE), "the kill comes at a random moment")
        server.kill()
        firsts = [kill_once(server, target, chance, options.limit)
                  for _ in range(options.kills - 1)]
        clients.ended.set()
        server.start()
        clients.join()
    finally:
        clients.ended.set()
    equal(server.stop(), 0, "exit code")
    content = export(server)
    stored = {job["id"] for job in content["job"]}
    lost = set(clients.created) - stored
    check(not lost, f"acknowledged jobs are lost: {sorted(lost)}")
    runs = {run["id"] for run in content["run"]}
    gone = [run for run in clients.runs if run not in runs]
    check(not gone, f"acknowledged runs are lost: {gone}")
    fires, missed = check_ledger(content)
    say(f"{options.store}: {options.kills} kills, {len(stored)} jobs, {fires} fires ({missed} "
        f"missed), {len(target.calls)} calls, first call after {max(firsts, default=0):.2f} s at "
        f"most")


@contextlib.contextmanager
def kill_place(options):
    say(f"seed {options.seed}")
    server = Server(options.ksana, store_of(options.store), environment={"WORKERS": "64"})
    with Target() as target, server:
        yield server, target, options


def main():
    given, release = arguments("KSANA STORE", "KILLS SEED"), os.environ.get("KSANA_RELEASE")
    given.ksana = os.path.abspath(release or given.ksana)
    given.limit = FIRST_FIRE if release else FIRST_FIRE_UNOPTIMISED[given.store]
    given.kills = int(given.kills or os.environ.get("KSANA_KILLS", "10"))
    given.seed = int(given.seed or random.randrange(1 << 30))
    run(given, lambda _: kill_place(given))


if __name__ == "__main__":
    main()
