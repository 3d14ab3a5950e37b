#!/usr/bin/env python3
"""kill -9 of the server under load, again and again.

usage: kill_cases.py KSANA STORE [KILLS [SEED]]      STORE: sqlite, json, postgres

So often as KSANA_KILLS says, else 10 times; the program that KSANA_RELEASE names, if it is set.

Afterwards every job that was acknowledged is there, every nominal fire has exactly one entry in the
ledger (a run, or a stretch of missed fires), and each restart fired within two seconds.
"""
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import datetime, timezone

from ksana_server import Failure, Server, Target, after, check, store_of, time_of

# Seconds from the start of the process to the first call.
FIRST_FIRE = 2.0
# Unoptimised, a log of JSON lines is read ten times slower than by a release.
FIRST_FIRE_UNOPTIMISED = {"sqlite": 2.0, "postgres": 2.0, "json": 5.0}
LONGEST_LIFE = 1.2      # seconds until the next kill
# Jobs at a time, and seconds between two calls of the client: a few hundred kills would otherwise
# end with fires that no store keeps up with, and the JSON store reads all that ever ran at its
# start, which is for a few hundred runs a second at most.
MOST_JOBS = {"sqlite": 500, "postgres": 500, "json": 100}
PAUSE = {"sqlite": 0, "postgres": 0, "json": 0.005}


def micros(text):
    instant = time_of(text)
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    return round((instant - epoch).total_seconds() * 1_000_000)


class Clients(threading.Thread):
    """Makes jobs, starts runs and deletes jobs; keeps what was acknowledged."""

    def __init__(self, server, target, seed, kind):
        super().__init__(daemon=True)
        self.server, self.target, self.random = server, target, random.Random(seed)
        self.created, self.runs, self.ended = {}, [], threading.Event()
        self.leaving = None     # a job whose deletion is not answered yet
        self.number, self.most_jobs, self.pause = 0, MOST_JOBS[kind], PAUSE[kind]

    def run(self):
        while not self.ended.is_set():
            try:
                self.step()
                self.ended.wait(self.pause)
            except (OSError, ValueError, Failure, json.JSONDecodeError):
                time.sleep(0.01)  # it is down, or was killed in the middle of the answer
            except Exception as error:  # pylint: disable=broad-except
                if type(error).__module__ != "http.client":
                    raise
                time.sleep(0.01)

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
    """Every fire of the job that its cursor says is accounted for."""
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
    with target.changed:
        while len(target.calls) == before:
            left = limit - (time.monotonic() - started)
            check(left > 0, f"no fire within {limit} s of the start\n{server.log()}")
            target.changed.wait(left)
    first = time.monotonic() - started
    time.sleep(chance.uniform(0, LONGEST_LIFE))  # the moment of the kill is what is random
    server.kill()
    return first


def main():
    release, kind = os.environ.get("KSANA_RELEASE"), sys.argv[2]
    binary = os.path.abspath(release or sys.argv[1])
    limit = FIRST_FIRE if release else FIRST_FIRE_UNOPTIMISED[kind]
    kills = int(sys.argv[3] if len(sys.argv) > 3 else os.environ.get("KSANA_KILLS", "10"))
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
    chance = random.Random(seed)
    target = Target()
    server = Server(binary, store_of(kind), environment={"WORKERS": "64"})
    clients = Clients(server, target, seed, kind)
    try:
        server.start()
        server.create(id="beat", schedule={"kind": "every", "every": "100ms"}, overlap="allow",
                      http={"method": "GET", "url": target.url + "/beat"})
        clients.start()
        time.sleep(chance.uniform(0.2, LONGEST_LIFE))
        server.kill()
        firsts = [kill_once(server, target, chance, limit) for _ in range(kills - 1)]
        clients.ended.set()
        server.start()
        clients.join()
        check(server.stop() == 0, "exit code")
        content = export(server)
        there = {job["id"] for job in content["job"]}
        lost = set(clients.created) - there
        check(not lost, f"acknowledged jobs are lost: {sorted(lost)}")
        runs = {run["id"] for run in content["run"]}
        gone = [run for run in clients.runs if run not in runs]
        check(not gone, f"acknowledged runs are lost: {gone}")
        fires, missed = check_ledger(content)
        print(f"{kind}: {kills} kills, {len(there)} jobs, {fires} fires ({missed} missed), "
              f"{len(target.calls)} calls, first call after {max(firsts, default=0):.2f} s at most")
    except Failure as failure:
        print(f"FAILED, seed {seed}: {failure}\n{server.log()}", file=sys.stderr)
        sys.exit(1)
    finally:
        clients.ended.set()
        target.close()
        server.close()


if __name__ == "__main__":
    main()
