#!/usr/bin/env python3
"""Three servers, three workers and a database under faults; then every fire is accounted for.

usage: storm_cases.py KSANA WAY [SECONDS [SEED]]      WAY: store, rabbitmq

Kills and stops servers and workers at random, restarts the database, and cuts workers off the
network, for SECONDS (default: KSANA_CHAOS_SECONDS, or 25, or 15 with rabbitmq). Then all faults
end, the cluster must be on time again, and the checker joins the store with what the targets saw
(checker.py).
With rabbitmq, tasks travel through a RabbitMQ that is killed and emptied, too.
Needs root, for network namespaces; rabbitmq needs Debian's Python.
"""
import http.client
import os
import pathlib
import random
import signal
import threading
import time
from datetime import timedelta

from chaos.checker import FINAL, History, check_history
from chaos.cluster import LEASE, Cluster
from chaos.oracle import Oracle, attempt_id_of
from kit.cases import arguments, case, run, say
from kit.checks import Failure, check, equal
from kit.places import Place
from kit.times import text_of, utc_now
from kit.waiting import let_pass, wait_until

UNFINISHED = "state=scheduled&state=queued&state=running&state=completing&state=held"
QUIET = 30              # seconds after the last fault until everything is on time again
HTTP_JOBS, SLOW_JOBS, COMMAND_JOBS = 20, 6, 4


class Load:
    """Jobs of all sorts, and a thread that submits tasks and remembers what was acknowledged."""

    def __init__(self, cluster, oracle, chance):
        self.cluster, self.oracle, self.random = cluster, oracle, chance
        self.jobs, self.acknowledged = [], set()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.submit, daemon=True)

    def create(self, job_id, **members):
        origin = text_of(utc_now() - timedelta(seconds=100))
        job = {"id": job_id, "name": job_id, "overlap": "skip",
               "schedule": {"kind": "every", "every": "1s", "start_at": origin},
               "retry": {"strategy": "fixed", "max_retries": 50, "interval": "1s"},
               "timeout": "20s", "stop_grace": "1s", **members}
        self.cluster.call("POST", "/api/v1/jobs", job, 201)
        self.jobs.append(job_id)

    def create_all(self):
        for number in range(HTTP_JOBS):
            self.create(f"http-{number}", type="http",
                        http={"method": "POST", "url": f"{self.oracle.url}/ok"})
        for number in range(SLOW_JOBS):
            self.create(f"slow-{number}", type="http",
                        http={"method": "POST", "url": f"{self.oracle.url}/slow/0.8"})
        for number in range(COMMAND_JOBS):
            self.create(f"command-{number}", type="command",
                        command={"shell": True, "argv": [self.oracle.command(0.3)]})
        self.create("child", type="http", depends_on=[{"job": "slow-0", "on_failure": "wait"}],
                    http={"method": "POST", "url": f"{self.oracle.url}/ok"})
        self.create("after", type="http", overlap="allow",
                    schedule={"kind": "after", "jobs": ["http-0", "slow-1"], "on": "success",
                              "join": "each"},
                    misfire={"policy": "run_all", "max_runs": 1000},
                    http={"method": "POST", "url": f"{self.oracle.url}/ok"})

    def submit(self):
        """Submits tasks by turns at all servers."""
        number = 0
        task = {"type": "chaos", "timeout": "20s",
                "retry": {"strategy": "fixed", "max_retries": 50, "interval": "0s"}}
        while not self.ended.wait(0.1):
            number += 1
            node = self.cluster.nodes[number % len(self.cluster.nodes)]
            try:
                run_id = node.call("POST", "/api/v1/runs", {**task, "payload": {"n": number}}, 201)
                self.acknowledged.add(run_id["id"])
            except (OSError, ValueError, Failure, http.client.HTTPException):
                continue        # the server is down, or was killed during its answer

    def pause(self):
        self.ended.set()
        self.thread.join()
        self.cluster.call("POST", "/api/v1/jobs/pause", {"all": True, "reason": "the end"})


class Storm:
    """Faults at random. Each fault has an end, which heal() brings forward."""

    def __init__(self, cluster, chance, flags, broker=None):
        self.cluster, self.random, self.flags = cluster, chance, flags
        self.broker, self.broker_down = broker, False
        self.ends = []          # (time, function that ends the fault)
        self.count = {}

    def note(self, kind):
        self.count[kind] = self.count.get(kind, 0) + 1

    def later(self, seconds, function):
        self.ends.append((time.monotonic() + seconds, function))

    def step(self):
        now = time.monotonic()
        due = [end for end in self.ends if end[0] <= now]
        self.ends = [end for end in self.ends if end[0] > now]
        for _, function in due:
            function()
        kinds = [self.kill_node, self.stop_node, self.kill_worker, self.stop_worker,
                 self.cut_worker]
        weights = [4, 2, 3, 2, 3]
        if self.broker:
            kinds += [self.kill_broker, self.purge_tasks]
            weights += [2, 2]
        self.random.choices(kinds, weights)[0]()

    def kill_broker(self):
        if self.broker_down:
            return
        self.broker.kill()
        self.broker_down = True
        self.note("brokers killed")
        self.later(self.random.uniform(0, 3), self.restart_broker)

    def restart_broker(self):
        self.broker.restart()
        self.broker_down = False

    def purge_tasks(self):
        if not self.broker_down:
            self.broker.ctl("purge_queue", "ksana.tasks")
            self.note("queues emptied")

    def kill_node(self):
        node = self.random.choice(self.cluster.nodes)
        if not node.alive() or node.stopped:
            return
        node.process.kill()
        node.process.wait()
        self.note("servers killed")
        self.later(self.random.uniform(0.2, 3), node.start)

    def stop_node(self):
        node = self.random.choice(self.cluster.nodes)
        if not node.alive() or node.stopped:
            return
        node.process.send_signal(signal.SIGSTOP)
        node.stopped = True
        self.note("servers stopped")
        self.later(self.random.uniform(1, LEASE + 4), lambda: self.go_on(node))

    def kill_worker(self):
        worker = self.random.choice(self.cluster.workers)
        if not worker.alive() or worker.stopped:
            return
        worker.kill()
        self.note("workers killed")
        self.later(self.random.uniform(0.2, 4), lambda: worker.start(*self.flags))

    def stop_worker(self):
        worker = self.random.choice(self.cluster.workers)
        if not worker.alive() or worker.stopped:
            return
        worker.process.send_signal(signal.SIGSTOP)
        worker.stopped = True
        self.note("workers stopped")
        self.later(self.random.uniform(1, LEASE + 4), lambda: self.go_on(worker))

    def cut_worker(self):
        worker = self.random.choice(self.cluster.workers)
        if worker.is_cut:
            return
        worker.cut(True)
        self.note("networks cut")
        self.later(self.random.uniform(1, LEASE + 6), lambda: worker.cut(False))

    @staticmethod
    def go_on(process):
        if process.alive():
            process.process.send_signal(signal.SIGCONT)
        process.stopped = False

    def restart_database(self):
        self.cluster.database.control("-m", "immediate", "restart")
        self.note("restarts of the database")

    def heal(self):
        for _, function in sorted(self.ends, key=lambda end: end[0]):
            function()
        self.ends = []


def rage(storm, seconds):
    """Lets the storm rage. The database restarts once in each half."""
    began = time.monotonic()
    restarts = [began + seconds * share for share in (0.3, 0.75)]
    while time.monotonic() < began + seconds:
        storm.step()
        if restarts and time.monotonic() >= restarts[0]:
            restarts.pop(0)
            storm.restart_database()
        let_pass(storm.random.uniform(0.4, 1.2), "faults come one after the other")


def await_punctuality(cluster, load):
    """I13: soon after the last fault every job fires on time again."""
    def late():
        now = utc_now()
        found = []
        for job_id in load.jobs:
            if job_id in ("after", "child"):
                continue        # they fire after others, and wait for others
            page = cluster.call("GET", f"/api/v1/jobs/{job_id}/runs?limit=3")
            starts = [one["started_at"] for one in page["items"] if one.get("started_at")]
            if not starts or max(starts) < text_of(now - timedelta(seconds=4)):
                found.append(job_id)
        return found

    wait_until(lambda: not late(), lambda: f"all jobs to be on time; late: {late()}", QUIET,
               pause=0.5, ignoring=(OSError, Failure))


def await_end(cluster):
    def unfinished():
        page = cluster.call("GET", f"/api/v1/runs?{UNFINISHED}&limit=5&total=true")
        return page["total"]["count"], page["items"]

    wait_until(lambda: unfinished()[0] == 0, lambda: f"the end of all runs, not {unfinished()}", 60,
               pause=0.2)


def leftovers(oracle):
    """Returns processes of commands that still run."""
    found = []
    for place in pathlib.Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            environment = (place / "environ").read_bytes()
            words = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if b"KSANA_EXEC_ID=" in environment and str(oracle.log).encode() in words:
            found.append(int(place.name))
    return found


def history_of(cluster, oracle, load, started, ended):
    records = cluster.export()
    for one in records.get("attempt", []) + [one["status"] for one in records.get("run", [])]:
        if one.get("exec_id"):
            one["exec_id"] = attempt_id_of(one["exec_id"])
    return History(jobs={job["id"]: job for job in records["job"]},
                   runs={one["id"]: one for one in records.get("run", [])},
                   attempts=records.get("attempt", []), ledger=records.get("ledger", []),
                   effects=oracle.seen(), acknowledged=load.acknowledged, started=started,
                   ended=ended)


def summary(history, storm, seconds):
    states = {}
    for one in history.runs.values():
        states[one["status"]["state"]] = states.get(one["status"]["state"], 0) + 1
    lost = sum(1 for attempt in history.attempts if attempt.get("outcome") == "lost")
    refused = sum(1 for effect in history.effects if not effect.accepted)
    say(f"{seconds} s: {storm.count}; runs {states}, {len(history.acknowledged)} tasks, "
        f"{lost} attempts lost, {len(history.effects)} effects, {refused} of them stale")


@case
def every_fire_is_accounted_for(cluster, oracle, load, storm, seconds):
    cluster.start(*storm.flags)
    cluster.await_workers(len(cluster.workers))
    load.create_all()
    load.thread.start()
    started = utc_now()
    rage(storm, seconds)
    storm.heal()
    await_punctuality(cluster, load)
    load.pause()
    ended = utc_now() - timedelta(seconds=3)
    await_end(cluster)
    wait_until(lambda: not leftovers(oracle), lambda: f"the end of commands {leftovers(oracle)}")
    for node in cluster.nodes:
        equal(node.stop(), 0, "exit code of a server")
    for worker in cluster.workers:
        equal(worker.stop(), 0, f"exit code of a worker\n{worker.log()}")
    history = history_of(cluster, oracle, load, started, ended)
    summary(history, storm, seconds)
    found = check_history(history)
    check(not found, f"{len(found)} violations:\n" + "\n".join(found[:20]))
    check(all(one["status"]["state"] in FINAL for one in history.runs.values()), "unfinished")
    check(len(history.runs) > seconds * HTTP_JOBS / 4, "so few runs test nothing")


class ChaosPlace(Place):
    def __enter__(self):
        super().__enter__()
        return self.cluster, self.oracle, self.load, self.storm, self.given.seconds

    def open(self):
        say(f"seed {self.given.seed}")
        chance = random.Random(self.given.seed)
        folder = self.new_folder("ksana_chaos_")
        self.oracle = Oracle(folder)
        self.callback(self.oracle.close)
        broker = self.new_broker() if self.given.way == "rabbitmq" else None
        self.cluster = Cluster(self.given.ksana, folder, broker=broker and broker.url)
        self.callback(self.cluster.close)
        self.load = Load(self.cluster, self.oracle, chance)
        handler = folder / "handler.sh"
        handler.write_text("#!/bin/sh\n" + self.oracle.command(0.05) + "\n", encoding="utf-8")
        handler.chmod(0o755)
        self.storm = Storm(self.cluster, chance,
                           ["--allow-commands", "--handler", f"chaos={handler}"], broker)

    def new_broker(self):
        # Needs a module that only Debian's Python has.
        from kit.rabbitmq import OwnRabbitmq
        folder = self.new_folder("ksana_chaos_broker_")
        folder.chmod(0o755)
        return self.enter_context(OwnRabbitmq(folder / "rabbitmq", "0.0.0.0"))


def main():
    given = arguments("KSANA WAY", "SECONDS SEED")
    check(os.getuid() == 0, "network namespaces need root")
    shortest = 25 if given.way == "store" else 15
    given.seconds = int(given.seconds or os.environ.get("KSANA_CHAOS_SECONDS", shortest))
    given.seed = int(given.seed or random.randrange(1 << 30))
    run(given, lambda _: ChaosPlace(given))


if __name__ == "__main__":
    main()
