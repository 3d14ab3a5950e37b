#!/usr/bin/env python3
"""`ksana worker` processes against built servers: claims, failover, kills, fences, drains.

usage: worker_process_cases.py KSANA [CASE…]

Every case marks the processes of its commands by a long sleep of its own length, so that it finds
them whoever their parent is. The servers expect heartbeats every 0.3 s and take a worker for dead
after 1.5 s.
"""
import itertools
import os
import re
import signal
import subprocess
import time
import urllib.request

from kit.agent_client import show, submit
from kit.cases import arguments, case, run
from kit.checks import check, contains, equal
from kit.contract import Client
from kit.places import Place
from kit.postgres import store_of
from kit.server import Server
from kit.targets import Target
from kit.usage import sleepers
from kit.waiting import stays_so, wait_for, wait_until
from kit.worker_process import WorkerProcess

PARALLEL = 4
TIMEOUT = 1.5
SETTINGS = {"KSANA_WORKER_HEARTBEAT": "300ms", "KSANA_WORKER_TIMEOUT": f"{TIMEOUT}s"}
HOUR = {"kind": "every", "every": "1h"}
LATE = {"strategy": "fixed", "max_retries": 5, "interval": "1h"}
MARKS = itertools.count(300_000 + os.getpid() % 10_000 * 100)


class WorkerPlace(Place):
    def open(self):
        self.binary, self.mark = self.given.ksana, str(next(MARKS))
        self.folder = self.new_folder("ksana_workers_")
        self.go = self.folder / "go"

    def server(self, store="sqlite", folder=None):
        server = self.enter_context(Server(self.binary, store, folder=folder,
                                           environment=SETTINGS))
        server.start()
        server.api = Client(server)
        return server

    def worker(self, servers, *flags, name="w1"):
        servers = servers if isinstance(servers, list) else [servers]
        made = WorkerProcess(self.binary, servers, *flags, name=name, folder=self.folder)
        return self.enter_context(made).await_registered()

    def gated(self, kind="slow"):
        """A handler that ends once `go` exists, and that has a process with the case's mark."""
        return ("--handler", f"{kind}=sh -c 'sleep {self.mark} & while [ ! -e {self.go} ]; "
                             "do sleep 0.02; done; echo $KSANA_ATTEMPT > $KSANA_RESULT_FILE'")

    def processes(self):
        return sleepers(self.mark)

    def await_processes(self, count, within=30):
        wait_for(self.processes, lambda found: len(found) == count, f"{count} processes", within)


def await_run(api, run_id, is_so, what, within=30):
    return wait_for(lambda: show(api, run_id), is_so, what, within)


def await_state(api, run_id, state, within=30):
    return await_run(api, run_id, lambda one: one["state"] == state, state, within)


def await_owner(api, run_id, name, within=30):
    return await_run(api, run_id, lambda one: one["state"] == "running" and
                     one["owner"].startswith(name + "/"), f"a run of {name}", within)


def worker_state(api, name="w1"):
    return api.call("GET", f"/api/v1/workers/{name}")["state"]


def create(api, job_id, kind, action, **more):
    api.call("POST", "/api/v1/jobs", {"id": job_id, "name": job_id, "type": kind, kind: action,
                                      "schedule": HOUR, **more}, 201)
    return api.call("POST", f"/api/v1/jobs/{job_id}/run", {}, 202)["id"]


@case
def d02_tasks_are_carried_out_by_programs(place):
    """D-02: claims, works, reports the result. D-12: log lines of start and end."""
    api = place.server().api
    worker = place.worker(api.server, "--handler", "echo=sh -c 'echo a line; echo ::progress 50 "
                          "half; cp $KSANA_PAYLOAD_FILE $KSANA_RESULT_FILE'", "--slots", "2")
    ids = [submit(api, "echo", payload={"n": n})["id"] for n in range(5)]
    for number, run_id in enumerate(ids):
        done = await_state(api, run_id, "succeeded")
        equal(done["result"], {"n": number})
        contains("a line", done["attempts"][-1]["detail"]["log"])
        equal(done["attempts"][-1]["detail"]["exit_code"], 0)
        check(done["owner"].startswith("w1/"), done["owner"])
    equal(worker_state(api), "alive")
    shown = api.call("GET", "/api/v1/workers/w1")
    equal((shown["types"], shown["slots"]), (["echo"], 2))
    contains("type=echo", worker.await_line("attempt started"))
    contains("outcome=success", worker.await_line("attempt ended"))
    equal(worker.stop(), 0, "exit code")
    equal(worker_state(api), "gone")


@case
def failures_are_reported_with_their_detail(place):
    api = place.server().api
    place.worker(api.server, "--handler", "bad=sh -c 'echo oops >&2; exit 3'")
    failed = await_state(api, submit(api, "bad", retry={"strategy": "none"})["id"], "failed")
    equal(failed["attempts"][-1]["detail"]["exit_code"], 3)
    contains("oops", failed["last_error"])


@case
def d04_over_its_timeout_a_task_is_stopped(place):
    """D-04: TIMEOUT, and its processes are gone."""
    api = place.server().api
    place.worker(api.server, *place.gated())
    run_id = submit(api, "slow", timeout="500ms", retry={"strategy": "none"})["id"]
    await_state(api, run_id, "timed_out")
    place.await_processes(0)


@case
def a_cancel_stops_the_program(place):
    api = place.server().api
    place.worker(api.server, *place.gated(), "--lease", "1s")
    run_id = submit(api, "slow", timeout="1m")["id"]
    place.await_processes(1)
    api.call("POST", f"/api/v1/runs/{run_id}/cancel", {}, 202)
    await_state(api, run_id, "cancelled")
    place.await_processes(0)


@case
def commands_run_only_where_they_are_allowed(place):
    api = place.server().api
    plain = place.worker(api.server, name="plain")
    run_id = create(api, "hello", "command", {"argv": ["echo", "hello"]})
    stays_so(lambda: show(api, run_id)["state"] == "queued", "queued", 0.5)
    place.worker(api.server, "--allow-commands", name="allowing")
    done = await_state(api, run_id, "succeeded")
    check(done["owner"].startswith("allowing/"), done["owner"])
    contains("hello", done["attempts"][-1]["detail"]["log"])
    equal(plain.stop(), 0)


@case
def calls_of_jobs_that_require_labels_come_from_the_worker(place):
    server = place.server()
    place.worker(server, "--labels", "zone=a,disk=ssd")
    with Target() as target:
        run_id = create(server.api, "call", "http", {"url": f"{target.url}/from-worker"},
                        placement={"require": {"zone": "a"}})
        done = await_state(server.api, run_id, "succeeded")
    check(done["owner"].startswith("w1/"), done["owner"])


@case(first=True)
def a_killed_workers_runs_move_on_and_nothing_survives(place):
    """D-06: kill -9 under a task and a command: elsewhere within the timeout + 2 s."""
    api = place.server().api
    first = place.worker(api.server, *place.gated(), "--allow-commands", name="first")
    task = submit(api, "slow", timeout="1m", retry=LATE)["id"]
    command = create(api, "sleeper", "command",
                     {"argv": ["sh", "-c", f"setsid sleep {place.mark} & sleep {place.mark}"]},
                     timeout="1m", retry=LATE)
    place.await_processes(3)
    first.kill()
    killed = time.monotonic()
    place.await_processes(0, within=5)
    place.worker(api.server, *place.gated(), "--allow-commands", name="second")
    for run_id in (task, command):
        await_owner(api, run_id, "second")
    took = time.monotonic() - killed
    check(took < TIMEOUT + 2, f"{took:.2f} s")
    place.go.touch()
    equal(await_state(api, task, "succeeded")["result"], 2, "attempt")
    equal(worker_state(api, "first"), "down")


@case(first=True)
def a_stopped_worker_reports_too_late(place):
    """SIGSTOP: another worker has the task; the late report is refused."""
    api = place.server().api
    first = place.worker(api.server, *place.gated(), "--lease", "2s", name="first")
    run_id = submit(api, "slow", timeout="1m", retry=LATE)["id"]
    await_owner(api, run_id, "first")
    place.await_processes(1)
    first.signal(signal.SIGSTOP)
    place.worker(api.server, *place.gated(), "--lease", "2s", name="second")
    await_owner(api, run_id, "second")
    seen = len(first.lines)
    first.signal(signal.SIGCONT)
    first.await_line("is not this worker's any more", after=seen)
    place.go.touch()
    done = await_state(api, run_id, "succeeded")
    equal(done["result"], 2, "attempt")
    check(done["owner"].startswith("second/"), done["owner"])
    equal([one["outcome"] for one in done["attempts"]], ["lost", "succeeded"])


@case(first=True)
def d05_the_next_server_is_found(place):
    """Two servers on one PostgreSQL: one is killed under a running task."""
    store = store_of("postgres")
    one, two = place.server(store), place.server(store)
    worker = place.worker([one, two], *place.gated())
    run_id = submit(two.api, "slow", timeout="1m")["id"]
    await_owner(two.api, run_id, "w1")
    one.kill()
    place.go.touch()
    equal(await_state(two.api, run_id, "succeeded")["result"], 1, "attempt")
    again = submit(two.api, "slow", timeout="1m")["id"]
    await_state(two.api, again, "succeeded")
    equal(worker.stop(), 0, "exit code")


@case
def d05_a_drain_finishes_and_leaves(place):
    api = place.server().api
    worker = place.worker(api.server, *place.gated(), "--slots", "1")
    first = submit(api, "slow", timeout="1m")["id"]
    await_owner(api, first, "w1")
    worker.signal(signal.SIGTERM)
    wait_until(lambda: worker_state(api) == "draining", "the drain")
    second = submit(api, "slow", timeout="1m")["id"]
    stays_so(lambda: show(api, second)["state"] == "queued", "queued", 0.3)
    place.go.touch()
    equal(worker.wait(), 0, "exit code")
    equal(show(api, first)["state"], "succeeded")
    equal(show(api, second)["state"], "queued")
    equal(worker_state(api), "gone")


@case
def a_second_signal_gives_back(place):
    api = place.server().api
    worker = place.worker(api.server, *place.gated())
    run_id = submit(api, "slow", timeout="1m")["id"]
    await_owner(api, run_id, "w1")
    place.await_processes(1)
    worker.signal(signal.SIGTERM)
    worker.await_line("draining")
    worker.signal(signal.SIGINT)
    equal(worker.wait(), 0, "exit code")
    place.await_processes(0)
    given_back = show(api, run_id)
    equal(given_back["state"], "queued")
    equal([one["outcome"] for one in given_back["attempts"]], ["released"])


@case
def a_person_drains_a_worker(place):
    api = place.server().api
    worker = place.worker(api.server)
    api.call("POST", "/api/v1/workers/w1/drain", {}, 200)
    equal(worker.wait(), 0, "exit code")
    equal(worker_state(api), "gone")


@case(first=True)
def d05_a_restart_under_the_same_name_takes_over(place):
    """The old process stops what it runs and fails with a clear message."""
    api = place.server().api
    old = place.worker(api.server, *place.gated())
    run_id = submit(api, "slow", timeout="1m", retry=LATE)["id"]
    before = await_owner(api, run_id, "w1")["owner"]
    place.await_processes(1)
    place.worker(api.server, *place.gated())
    check(old.wait() != 0, "exit code")
    old.await_line('another worker is registered under the name "w1"')
    await_run(api, run_id, lambda run: run["state"] == "running" and run["owner"] != before,
              "the new one's attempt")
    place.await_processes(1)
    place.go.touch()
    equal(await_state(api, run_id, "succeeded")["result"], 2, "attempt")


@case(first=True)
def a_worker_without_a_server_fences_itself(place):
    """Its leases are gone: it stops what it runs, and comes back with the server."""
    server = place.server()
    worker = place.worker(server, *place.gated(), "--lease", "1s")
    submit(server.api, "slow", timeout="1m")
    place.await_processes(1)
    server.process.send_signal(signal.SIGSTOP)
    place.await_processes(0, within=10)
    worker.await_line("its lease was not renewed in time")
    server.process.send_signal(signal.SIGCONT)
    place.go.touch()
    await_state(server.api, submit(server.api, "slow")["id"], "succeeded")


@case
def metrics_are_served(place):
    api = place.server().api
    worker = place.worker(api.server, *place.gated(), "--slots", "3", "--metrics", "127.0.0.1:0")
    port = re.search(r"port=(\d+)", worker.await_line("serves metrics")).group(1)

    def metrics():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            return answer.read().decode()

    run_id = submit(api, "slow", timeout="1m")["id"]
    wait_until(lambda: "ksana_worker_busy 1\n" in metrics(), "busy")
    contains("ksana_worker_slots 3\n", metrics())
    contains("ksana_worker_server_reachable 1\n", metrics())
    contains("process_resident_memory_bytes", metrics())
    place.go.touch()
    await_state(api, run_id, "succeeded")
    contains('ksana_worker_attempts_total{kind="queue",outcome="succeeded"} 1\n', metrics())
    wait_until(lambda: "ksana_worker_reports_pending 0\n" in metrics(), "no report pending")


@case
def wrong_words_are_refused(place):
    for words, message in ((["--server", "ftp://x"], "ftp://x"),
                           (["--slots", "0"], "--slots"),
                           (["--labels", "a"], "NAME=VALUE"),
                           (["--handler", "x"], "TYPE=COMMAND"),
                           (["--handler", "x='a"], "--handler x"),
                           (["--types", "y"], "has no --handler"),
                           (["--lease", "1ms"], "/lease"),
                           (["--metrics", "nowhere"], "metrics")):
        done = subprocess.run([place.binary, "worker", *words], capture_output=True, text=True,
                              timeout=30, check=False)
        equal(done.returncode, 2, f"exit code of {words}: {done.stderr}")
        contains(message, done.stderr)


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda _: WorkerPlace(given), PARALLEL)
