#!/usr/bin/env python3
"""A very large number of tasks goes through the queue with bounded memory and disk space.

usage: million_cases.py KSANA STORE [TASKS]      STORE: sqlite, postgres

The default number of tasks is KSANA_MILLION_TASKS, or some ten thousand. All tasks are submitted
before the first is fetched; two agents drain them, the history keeps all, and retention deletes
them. Then half as many pass while retention is active. Each task succeeds exactly once. The test
measures memory, log and store throughout: memory and log stay bounded for any number of tasks, and
tasks after a purge do not grow the store.
"""
import array
import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time

from kit.cases import arguments, case, run, say
from kit.checks import Failure, check, equal
from kit.postgres import store_of
from kit.server import Server
from kit.usage import UsageWatch
from kit.waiting import wait_for

AGENTS = 2
BATCH = 500             # tasks in one exchange
SUBMITTED = 2_000       # in one call
TASKS = {"sqlite": 30_000, "postgres": 15_000}
FOR_EVER = "0s"
AT_ONCE = "1s"          # retention deletes a run soon after its end

# Bounds; docs/testing.md has the values measured with a million tasks.
MOST_MEMORY = 200 * 1_000_000           # of the server, for any number of tasks
MOST_LOG = 40 * 1_000_000               # the write-ahead log of SQLite
MOST_FIXED, MOST_BYTES = 4_000_000, 1_200      # of the store: when empty, and for each task
MOST_GROWTH = 1.05                      # factor by which tasks after a purge may grow the store


# ---- the agent: a separate process

def work(port, name, path):
    """Works until no task is left. Writes the number of each task whose success was accepted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    claim = {"types": ["million"], "max": BATCH, "lease": "10m"}
    accepted, reports, numbers = array.array("I"), [], []
    while True:
        body = {"worker": name, "reports": reports, "claim": claim}
        connection.request("POST", "/api/v1/agent/exchange", json.dumps(body))
        response = connection.getresponse()
        answer = json.loads(response.read())
        check(response.status == 200, f"{response.status}: {answer}")
        for number, told in zip(numbers, answer["reports"]):
            equal(told["verdict"], "ok", f"the report on task {number}")
            accepted.append(number)
        if not answer["runs"]:
            break
        numbers = [run["payload"]["n"] for run in answer["runs"]]
        reports = [{"run_id": run["run_id"], "exec_id": run["exec_id"], "outcome": "succeeded",
                    "result": run["payload"]} for run in answer["runs"]]
    with open(path, "wb") as file:
        accepted.tofile(file)


# ---- one round

def submit(server, count):
    """Submits `count` tasks and returns their ids."""
    ids = set()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    for start in range(0, count, SUBMITTED):
        tasks = [{"type": "million", "payload": {"n": number}, "timeout": "10m"}
                 for number in range(start, min(start + SUBMITTED, count))]
        connection.request("POST", "/api/v1/runs/batch", json.dumps({"runs": tasks}))
        response = connection.getresponse()
        answer = json.loads(response.read())
        equal(response.status, 200, f"the batch from {start} on, {str(answer)[:300]}")
        equal([result["verdict"] for result in answer["results"]], ["stored"] * len(tasks),
              "verdicts")
        ids.update(result["id"] for result in answer["results"])
    connection.close()
    equal(len(ids), count, "ids")
    return ids


def drain(server, count):
    """Runs the agents until all tasks have ended. Checks that each task succeeded exactly once."""
    with tempfile.TemporaryDirectory(prefix="ksana_million_") as folder:
        paths = [os.path.join(folder, f"agent-{number}") for number in range(AGENTS)]
        agents = [subprocess.Popen([sys.executable, __file__, "agent", str(server.port),
                                    os.path.basename(path), path]) for path in paths]
        try:
            for agent in agents:
                equal(agent.wait(120 + count * 0.005), 0, "exit code of an agent")
        except subprocess.TimeoutExpired:
            raise Failure(f"the agents are not done: {depths(server)}") from None
        finally:
            for agent in agents:
                if agent.poll() is None:
                    agent.kill()
                    agent.wait()
        numbers, shares = array.array("I"), []
        for path in paths:
            with open(path, "rb") as file:
                numbers.frombytes(file.read())
            shares.append(len(numbers) - sum(shares))
    equal(len(numbers), count, "accepted results")
    equal(len(set(numbers)), count, "tasks with an accepted result")
    check(all(shares), f"an agent had nothing to do: {shares}")


def metric(server, name):
    for line in server.request("GET", "/metrics")[2].splitlines():
        if line.startswith(name + " "):
            return int(float(line.split()[1]))
    return 0


def depths(server):
    """Returns the number of runs that are queued, running, and otherwise not over."""
    lines = server.call("GET", "/api/v1/queues")["items"]
    return tuple(sum(line[name] for line in lines for name in names) for names in
                 (("queued",), ("running",), ("scheduled", "held", "completing")))


def history(server, state):
    """Returns the ids of all tasks, page by page. Checks that each ended in this state."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    ids, cursor = [], ""
    while cursor is not None:
        connection.request("GET", f"/api/v1/runs?limit=500{cursor}")
        page = json.loads(connection.getresponse().read())
        check(all(run["state"] == state for run in page["items"]), f"not all are {state}")
        ids += [run["id"] for run in page["items"]]
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
    connection.close()
    return ids


def await_purge(server, count):
    """Waits until retention has deleted `count` runs. Checks that none is left."""
    purged = wait_for(lambda: metric(server, "ksana_runs_purged_total"), lambda got: got >= count,
                      f"{count} purged runs", within=60 + count * 0.002, pause=0.05)
    equal(purged, count, "purged")
    left = server.call("GET", "/api/v1/runs?limit=1&total=true")
    equal((left["total"], left["items"]), ({"count": 0, "relation": "exact"}, []), "left")


# ---- the rounds

def keep_all(server, count, watch):
    """Submits all tasks, drains them, and finds them all in the history."""
    watch.phase("submit")
    ids = submit(server, count)
    equal(depths(server), (count, 0, 0), "after the submits")
    watch.phase("drain")
    drain(server, count)
    watch.phase("history")
    equal(depths(server), (0, 0, 0), "after the drain")
    equal(metric(server, 'ksana_runs_finished_total{state="succeeded"}'), count, "succeeded")
    found = history(server, "succeeded")
    equal(len(found), count, "in the history")
    check(set(found) == ids, "the history has others than were submitted")


def purge(server, count, watch):
    """Purges all runs and returns the largest size of the store before. PostgreSQL may have
    freed the space of the queue."""
    equal(server.stop(), 0, "exit code")
    full = watch.store_size()       # the log is empty now
    largest = max(full, watch.most("store"))
    check(full <= MOST_FIXED + count * MOST_BYTES,
          f"{full:,} bytes for {count:,} tasks: {full / count:,.0f} each")
    server.environment["KSANA_RETENTION"] = AT_ONCE
    server.start()
    watch.phase("purge")
    await_purge(server, count)
    return largest


def once_more(server, before, count, watch):
    """Processes more tasks while retention works; the store reuses the space of deleted ones."""
    watch.phase("submit again")
    submit(server, count)
    watch.phase("drain again")
    drain(server, count)
    watch.phase("purge again")
    equal(metric(server, 'ksana_runs_finished_total{state="succeeded"}'), count, "succeeded again")
    await_purge(server, before + count)


@case
def memory_and_disk_stay_bounded(server, kind, count):
    began = time.monotonic()
    watch = UsageWatch(server, kind)
    try:
        server.start()
        watch.start()
        keep_all(server, count, watch)
        largest = purge(server, count, watch)
        watch.vacuum()
        once_more(server, count, count // 2, watch)
        watch.vacuum()
        equal(server.stop(), 0, "exit code")
    finally:
        watch.stop()
        say(watch.table())
    check(watch.most("memory") <= MOST_MEMORY, f"the server took {watch.most('memory'):,} bytes")
    check(watch.most("log") <= MOST_LOG, f"the log took {watch.most('log'):,} bytes")
    check(watch.most("store") <= largest * MOST_GROWTH,
          f"the store has grown from {largest:,} to {watch.most('store'):,} bytes")
    say(f"{kind}: {count:,} tasks, then {count // 2:,}, in {time.monotonic() - began:.0f} s")


@contextlib.contextmanager
def million_place(given, count):
    with Server(given.ksana, store_of(given.store),
                environment={"KSANA_RETENTION": FOR_EVER}) as server:
        yield server, given.store, count


def main():
    given = arguments("KSANA STORE", "TASKS")
    count = int(given.tasks or os.environ.get("KSANA_MILLION_TASKS", TASKS[given.store]))
    run(given, lambda _: million_place(given, count))


if __name__ == "__main__":
    if sys.argv[1] == "agent":
        work(int(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        main()
