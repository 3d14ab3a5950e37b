#!/usr/bin/env python3
"""Workers: registration, heartbeats, claims of all kinds, the choice of a worker, broadcasts.

The workers are scripted here: what each one sends is part of the case.

usage: worker_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import uuid
from concurrent.futures import ThreadPoolExecutor

from kit.agent_client import CLAIM, EXCHANGE, await_polls, show, submit, tell
from kit.cases import arguments, case
from kit.checks import check, equal
from kit.contract import Client
from kit.places import run_on_store
from kit.server import Server
from kit.waiting import stays_so, wait_for, wait_until

WORKERS = "/api/v1/workers"
HOUR = {"kind": "every", "every": "1h"}
# An attempt lost with its worker is repeated at once, whatever the interval.
LATE = {"strategy": "fixed", "max_retries": 3, "interval": "1h"}
ALL = ["queue", "command", "handler", "http"]


class Worker:
    """A registered worker. Its heartbeats are sent when a case says so."""

    def __init__(self, api, name, slots=4, kinds=("queue",), expect=201, **more):
        self.api, self.name, self.slots, self.kinds = api, name, slots, list(kinds)
        self.incarnation = str(uuid.uuid4())
        self.answer = api.call("POST", WORKERS, {
            "name": name, "incarnation": self.incarnation, "slots": slots, "kinds": self.kinds,
            "host": "h", "version": "1", **more}, expect)

    def beat(self, expect=200, busy=0, **more):
        return self.api.call("POST", f"{WORKERS}/{self.name}/heartbeat",
                             {"incarnation": self.incarnation, "busy": busy, **more}, expect)

    def claim(self, expect=200, wait="0s", **wish):
        body = {"worker": self.name, "incarnation": self.incarnation, "kinds": self.kinds,
                "max": self.slots, "wait": wait, **wish}
        if expect is None:
            answer = self.api.send("POST", CLAIM, body)[2]
            return answer["runs"] if answer else []
        answer = self.api.call("POST", CLAIM, body, expect)
        return answer["runs"] if expect == 200 else answer

    def leave(self, expect=204):
        return self.api.call("DELETE", f"{WORKERS}/{self.name}?incarnation={self.incarnation}",
                             None, expect)

    def shown(self):
        return self.api.call("GET", f"{WORKERS}/{self.name}")

    def owner(self):
        return f"{self.name}/{self.incarnation}"


def names(api, query=""):
    return [one["name"] for one in api.call("GET", WORKERS + query)["items"]]


def await_worker_state(worker, state):
    wait_for(lambda: worker.shown()["state"], lambda now: now == state, f"{worker.name} {state}")


def create(api, job_id, kind="queue", **more):
    action = {"queue": {"type": job_id}, "command": {"argv": ["/bin/true"]},
              "handler": {"name": job_id}, "http": {"url": "http://127.0.0.1:9/"}}[kind]
    api.call("POST", "/api/v1/jobs", {"id": job_id, "name": job_id, "type": kind, kind: action,
                                      "schedule": HOUR, **more}, 201)


def start(api, job_id, expect=202):
    return api.call("POST", f"/api/v1/jobs/{job_id}/run", {}, expect)


@case
def d05_a_worker_registers_and_is_alive(api):
    """D-05: id, host, types, slots; ALIVE; what it runs is shown."""
    worker = Worker(api, "w1", types=["mail"], labels={"zone": "a"})
    equal(worker.answer["state"], "alive", "state")
    equal(worker.beat(busy=2), {"state": "alive", "heartbeat_in": 0.5, "directives": []}, "beat")
    submit(api, "mail")
    run = worker.claim()[0]
    shown = worker.shown()
    equal(shown["busy"], 2, "busy")
    equal([one["id"] for one in shown["runs"]], [run["run_id"]], "what it runs")
    equal(show(api, run["run_id"])["owner"], worker.owner(), "owner")
    tell(api, run, "succeed", result=1)
    equal(worker.shown()["runs"], [], "what it runs")
    worker.leave()
    equal(worker.shown()["state"], "gone", "state")
    worker.beat(expect=409)
    problem = Worker(api, "bad name", slots=0, expect=400, labels={"worker": "other"}).answer
    equal(sorted(error["pointer"] for error in problem["errors"]),
          ["/labels/worker", "/name", "/slots"], "faults")


@case
def d06_a_silent_worker_is_down_and_its_runs_move(api):
    """D-06: no heartbeat for worker_timeout: DOWN, and its attempts go to others at once."""
    silent, other = Worker(api, "silent"), Worker(api, "other")
    submit(api, "mail", timeout="1h", retry=LATE)
    run = silent.claim(lease="10m")[0]
    found = []

    def claimed():
        other.beat()
        found.extend(other.claim(expect=None, lease="10m"))
        return found
    wait_until(claimed, "the run to go to the other worker")
    equal(found[0]["run_id"], run["run_id"], "run")
    equal(silent.shown()["state"], "down", "state")
    check("silent" in names(api, "?state=down"), "it is listed as down")
    tell(api, run, "succeed", expect=409)
    tell(api, found[0], "succeed")
    equal(silent.beat()["state"], "alive", "it is heard again")


@case
def d18_a_restart_under_the_same_name_orphans_at_once(api):
    """D-18: the successor's registration takes the attempts from the incarnation before it."""
    before = Worker(api, "twin")
    submit(api, "mail", retry=LATE)
    run = before.claim(lease="10m")[0]
    after = Worker(api, "twin")
    tell(api, run, "heartbeat", expect=409)
    equal(before.beat(expect=409)["code"], "lease_lost", "code")
    equal(before.claim(expect=409)["code"], "lease_lost", "code")
    equal(before.leave(expect=409)["code"], "lease_lost", "code")
    again = after.claim(wait="5s")[0]
    equal(again["run_id"], run["run_id"], "run")
    equal(again["attempt"], 2, "attempt")
    tell(api, again, "succeed")
    unknown = {"worker": "nobody", "incarnation": str(uuid.uuid4())}
    equal(api.call("POST", CLAIM, unknown, 404)["code"], "not_found", "code")
    api.call("POST", f"{WORKERS}/nobody/heartbeat", {"incarnation": str(uuid.uuid4())}, 404)


@case
def a_waiting_poll_of_a_replaced_worker_is_answered(api):
    before = Worker(api, "waits")
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(before.claim, 409, "20s")
        await_polls(api, 1)
        Worker(api, "waits")
        equal(poll.result()["code"], "lease_lost", "code")


@case
def m26_a_thousand_registrations(api):
    """M26: many names at once, and two processes that fight for one name."""
    with ThreadPoolExecutor(8) as pool:
        workers = list(pool.map(lambda n: Worker(api, f"many-{n % 20}"), range(60)))
    equal(len([name for name in names(api, "?limit=500") if name.startswith("many-")]), 20,
          "workers")
    alive = []
    for worker in workers:
        current = worker.shown()["incarnation"] == worker.incarnation
        worker.beat(expect=200 if current else 409)
        if current:
            alive.append(worker)
    equal(len(alive), 20, "one incarnation of each name is alive")
    for worker in alive:
        worker.leave()


@case
def a_drained_worker_gets_nothing_more(api):
    worker = Worker(api, "tired")
    submit(api, "mail", id=str(uuid.uuid4()))
    run = worker.claim()[0]
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(worker.claim, 200, "20s")
        await_polls(api, 1)
        equal(api.call("POST", f"{WORKERS}/tired/drain", {}, 200)["state"], "draining", "state")
        equal(poll.result(), [], "the waiting poll")
    submit(api, "mail")
    answer = api.call("POST", CLAIM, {"worker": "tired", "incarnation": worker.incarnation}, 200)
    equal(answer, {"runs": [], "directives": ["drain"]}, "a claim")
    equal(worker.beat(busy=1)["directives"], ["drain"], "directives")
    exchanged = api.call("POST", EXCHANGE, {
        "worker": "tired", "claim": {"incarnation": worker.incarnation},
        "reports": [{"run_id": run["run_id"], "exec_id": run["exec_id"], "outcome": "succeeded"}]})
    equal((exchanged["reports"][0]["verdict"], exchanged["runs"], exchanged["directives"]),
          ("ok", [], ["drain"]), "an exchange")
    worker.leave()
    equal(api.call("POST", f"{WORKERS}/tired/drain", {}, 409)["code"], "conflict", "code")


@case
def deregistering_gives_back_what_it_held(api):
    leaver, stayer = Worker(api, "leaver"), Worker(api, "stayer")
    submit(api, "mail", retry=LATE)
    run = leaver.claim(lease="10m")[0]
    leaver.leave()
    equal(stayer.claim(wait="5s")[0]["run_id"], run["run_id"], "run")


@case
def one_poll_serves_all_kinds(api):
    """Commands, handlers and calls that require labels come with their record and job."""
    worker = Worker(api, "all", kinds=ALL, slots=10, types=["resize", "hand"],
                    labels={"zone": "a"})
    queue_only = Worker(api, "tasks-only", slots=10)
    create(api, "cmd", "command")
    create(api, "hand", "handler")
    create(api, "unknown-handler", "handler")
    create(api, "far", "http", placement={"require": {"zone": "a"}})
    started = {kind: start(api, job)["id"] for kind, job in
               (("command", "cmd"), ("handler", "hand"), ("http", "far"))}
    start(api, "unknown-handler")
    started["queue"] = submit(api, "resize")["id"]
    queue_only.claim(types=["other"], expect=204)
    runs = {run["kind"]: run for run in worker.claim()}
    equal({kind: run["run_id"] for kind, run in runs.items()}, started, "runs")
    check("run" not in runs["queue"], "a task has no record")
    equal(runs["command"]["job"]["command"]["argv"], ["/bin/true"], "argv")
    equal(runs["http"]["run"]["selector"], {"zone": "a"}, "selector")
    for kind in ("command", "handler", "http"):
        tell(api, runs[kind], "release", expect=409)    # who reports on these names itself
        tell(api, runs[kind], "release", expect=409, worker="tasks-only")
    tell(api, runs["command"], "heartbeat", expect=200, worker="all", progress=40, log=["half"])
    tell(api, runs["command"], "succeed", worker="all", result={"exit_code": 0})
    tell(api, runs["handler"], "fail", worker="all", error={"message": "no"}, retry="no")
    tell(api, runs["http"], "release", worker="all")
    job = api.call("GET", "/api/v1/jobs/cmd")
    equal((job["last_state"], job["total_runs"]), ("succeeded", 1), "bookkeeping")
    equal(show(api, runs["handler"]["run_id"])["state"], "failed", "handler")
    equal(show(api, runs["http"]["run_id"])["state"], "queued", "released")
    problem = queue_only.claim(expect=400, kinds=["command"])
    equal(problem["errors"][0]["pointer"], "/kinds/0", "pointer")
    api.call("POST", CLAIM, {"worker": "agent", "kinds": ["command"]}, 400)
    waiting = show(api, api.call("GET", "/api/v1/runs?job=unknown-handler")["items"][0]["id"])
    check("no live worker serves handler unknown-handler" in waiting["unserved"], waiting)


@case
def a_command_wakes_a_waiting_worker(api):
    worker = Worker(api, "waker", kinds=["command"])
    create(api, "woken", "command")
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(worker.claim, 200, "20s")
        await_polls(api, 1)
        start(api, "woken")
        equal(poll.result()[0]["job_id"], "woken", "job")


@case
def a_preference_holds_for_a_while(api):
    near = Worker(api, "near", labels={"zone": "a"})
    far = Worker(api, "far")
    submit(api, "mail", prefer={"zone": "a"}, prefer_for="1h")
    far.claim(expect=204)
    equal(len(near.claim()), 1, "the preferred one")
    submit(api, "mail", prefer={"zone": "a"}, prefer_for="300ms")
    equal(len(far.claim(wait="10s")), 1, "then anybody, without a new commit")
    create(api, "prefers", placement={"prefer": {"zone": "a"}, "prefer_for": "1h"})
    start(api, "prefers")
    far.claim(expect=204)
    equal(near.claim()[0]["job_id"], "prefers", "job")


@case
def sticky_goes_to_one_worker(api):
    workers = {name: Worker(api, name) for name in ("s1", "s2", "s3")}
    chosen = []
    for _ in range(3):
        for worker in workers.values():
            worker.beat()
        run = submit(api, "mail", sticky="order-7", prefer_for="1h")
        prefer = show(api, run["id"])["prefer"]
        chosen.append(prefer["worker"])
        for name, worker in workers.items():
            if name != prefer["worker"]:
                worker.claim(expect=204)
        equal(len(workers[prefer["worker"]].claim()), 1, "runs")
    equal(len(set(chosen)), 1, "one worker")
    workers.pop(chosen[0]).leave()
    run = submit(api, "mail", sticky="order-7", prefer_for="1h")
    check(show(api, run["id"])["prefer"]["worker"] in workers, "another one takes over")


@case
def the_least_loaded_waiting_worker_gets_it(api):
    small, large = Worker(api, "small", slots=1), Worker(api, "large", slots=8)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(small.claim, None, "20s")
        await_polls(api, 1)
        second = pool.submit(large.claim, 200, "20s")
        await_polls(api, 2)
        submit(api, "mail")
        equal(len(second.result()), 1, "the one with most free slots")
        submit(api, "mail")
        equal(len(first.result()), 1, "then the other")


@case
def a_run_that_names_a_waiting_worker_reaches_it(api):
    workers = [Worker(api, f"n{i}") for i in range(3)]
    with ThreadPoolExecutor(3) as pool:
        polls = [pool.submit(worker.claim, None, "20s") for worker in workers]
        await_polls(api, 3)
        submit(api, "mail", selector={"worker": "n2"})
        equal(len(polls[2].result()), 1, "runs")
        check(not polls[0].done() and not polls[1].done(), "the others wait")
        submit(api, "mail", selector={"worker": "n0"})
        submit(api, "mail", selector={"worker": "n1"})
        equal([len(poll.result()) for poll in polls[:2]], [1, 1], "runs")


@case
def a_broadcast_runs_once_on_each_live_worker(api):
    """One run per live worker that serves it, with shard and shards in the payload."""
    create(api, "all-of-you", placement={"broadcast": True})
    equal(start(api, "all-of-you", 409)["code"], "conflict", "nobody is there")
    workers = [Worker(api, f"b{i}", slots=10) for i in range(3)]
    Worker(api, "other-type", types=["something"])
    first = start(api, "all-of-you")
    runs = [worker.claim() for worker in workers]
    equal([len(some) for some in runs], [1, 1, 1], "one each")
    equal([some[0]["payload"] for some in runs],
          [{"shard": i, "shards": 3} for i in range(3)], "payloads")
    equal({some[0].get("parent") for some in runs[1:]}, {first["id"]}, "parent")
    for some in runs:
        tell(api, some[0], "succeed")
    equal(api.call("GET", "/api/v1/jobs/all-of-you")["total_runs"], 3, "runs")
    api.call("POST", "/api/v1/jobs", {
        "id": "wrong", "name": "w", "type": "queue", "queue": {"type": "t"}, "schedule": HOUR,
        "overlap": "queue_one", "placement": {"broadcast": True, "sticky": "x"}}, 400)


@case
def a_broadcast_fire_is_never_lost(api):
    """Fires without a live worker are in the ledger; later ones make a run for each worker."""
    create(api, "ticks", placement={"broadcast": True},
           schedule={"kind": "every", "every": "300ms"})

    def fates():
        ledger = api.call("GET", "/api/v1/jobs/ticks/ledger")["items"]
        return {entry["fate"] for entry in ledger}
    wait_for(fates, lambda some: "no_worker" in some, "a fire without a worker")
    workers = [Worker(api, f"t{i}", slots=1) for i in range(2)]
    found = {}

    def both():
        for worker in workers:
            for run in worker.claim(expect=None):
                found.setdefault(worker.name, run)
        return len(found) == 2
    wait_until(both, "a run for each worker")
    equal({run["payload"]["shards"] for run in found.values()}, {2}, "shards")
    api.call("DELETE", "/api/v1/jobs/ticks", None, 204)


@case
def agents_are_listed_too(api):
    api.call("POST", CLAIM, {"worker": "plain", "types": ["mail"], "labels": {"gpu": "yes"}}, 204)
    wait_until(lambda: "plain" in names(api), "the agent in the list")
    submit(api, "mail")
    run = api.call("POST", CLAIM, {"worker": "plain", "types": ["mail"]})["runs"][0]
    shown = api.call("GET", f"{WORKERS}/plain")
    equal((shown["agent"], shown["state"], shown["types"]), (True, "alive", ["mail"]), "agent")
    equal([one["id"] for one in shown["runs"]], [run["run_id"]], "what it runs")
    equal(api.call("POST", f"{WORKERS}/plain/drain", {}, 409)["code"], "conflict", "code")


@case
def workers_of_two_servers(api):
    """A worker of one node is known on the other; its successor may register there."""
    if "postgres" not in api.server.store:
        return
    other = Server(api.server.binary, api.server.store,
                   flags=("--worker-timeout", "3s", "--worker-heartbeat", "500ms"))
    try:
        other.start()
        there = type(api)(other)
        before = Worker(api, "moves")
        submit(api, "mail", retry=LATE)
        run = before.claim(lease="10m")[0]
        with ThreadPoolExecutor(1) as pool:
            poll = pool.submit(before.claim, 409, "20s")
            await_polls(api, 1)
            after = Worker(there, "moves")
            equal(poll.result()["code"], "lease_lost", "code")
        equal(after.claim(wait="5s")[0]["run_id"], run["run_id"], "run")
        stays_so(lambda: after.shown()["state"] == "alive" and after.beat(), "alive", 0.2)
    finally:
        other.close()


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, target: (Client(server),),
                 flags=("--worker-timeout", "3s", "--worker-heartbeat", "500ms"))
