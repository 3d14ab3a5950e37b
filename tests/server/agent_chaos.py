#!/usr/bin/env python3
"""Four agents that are killed with kill -9, or stopped with SIGSTOP for longer than their leases.

usage: agent_chaos.py KSANA STORE [TASKS [SEED]]      STORE: sqlite, json, postgres

The default number of tasks is KSANA_CHAOS_TASKS, or 500. Afterwards every task has exactly one
accepted result, no task is missing, and late reports were refused.
"""
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from kit.cases import arguments, case, run, say
from kit.checks import check, equal
from kit.places import Place
from kit.postgres import store_of
from kit.server import Server
from kit.waiting import let_pass, wait_for, wait_until

AGENTS = 4
LEASE = 1.0             # seconds; the shortest lease allowed
STOPPED = 2.5           # seconds; longer than a lease plus the reaper's delay
LONG = 200              # seconds
UNFINISHED = "state=scheduled&state=queued&state=running&state=completing&state=held"


# ---- the agent: a separate process

class Agent:
    """Fetches tasks, reports on them, and writes the answer to each report into its journal."""

    def __init__(self, port, name, journal):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.name, self.journal = name, open(journal, "a", encoding="utf-8", buffering=1)
        self.random = random.Random()

    def exchange(self, reports):
        body = {"worker": self.name, "reports": reports,
                "claim": {"types": ["chaos"], "max": 3, "lease": f"{LEASE}s", "wait": "2s"}}
        self.connection.request("POST", "/api/v1/agent/exchange", json.dumps(body))
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        check(response.status == 200, f"{response.status}: {answer}")
        for report, told in zip(reports, answer["reports"]):
            self.journal.write(f"{told['verdict']} {report['run_id']} {report['exec_id']} "
                               f"{report['outcome']}\n")
        return answer["runs"]

    def work(self, run):
        """Works on a run. Most runs succeed; some fail the first time."""
        let_pass(run["payload"].get("takes", self.random.uniform(0.0, 0.02)),
                 "the work of this agent takes time")
        token = {"run_id": run["run_id"], "exec_id": run["exec_id"]}
        if run["attempt"] == 1 and run["payload"]["n"] % 10 == 0:
            return {**token, "outcome": "failed", "error": {"message": "the first time"}}
        return {**token, "outcome": "succeeded",
                "result": {"n": run["payload"]["n"], "exec_id": run["exec_id"]}}

    def run(self):
        reports = []
        while True:
            reports = [self.work(run) for run in self.exchange(reports)]


# ---- the agents and their disturbances

# The agent processes of the test. Kills and stops them at random.
class Crowd:
    def __init__(self, server, folder, seed):
        self.server, self.folder, self.random = server, folder, random.Random(seed)
        self.processes = [None] * AGENTS
        self.named = {}         # agent name -> process, including dead ones
        self.stopped = {}       # place -> time of its SIGCONT
        self.starts = self.kills = self.stops = 0

    def start(self, place):
        self.starts += 1
        name = f"agent-{self.starts}"
        self.processes[place] = self.named[name] = subprocess.Popen(
            [sys.executable, __file__, "agent", str(self.server.port), name,
             os.path.join(self.folder, f"journal-{self.starts}")], stderr=subprocess.PIPE)

    def complete(self):
        """Starts a new agent for each one that has died."""
        for place, process in enumerate(self.processes):
            if process is None or process.poll() is not None:
                self.start(place)

    def step(self):
        """Kills or stops one agent, and resumes the stopped agents whose time is over."""
        now = time.monotonic()
        for place in [place for place, until in self.stopped.items() if until <= now]:
            del self.stopped[place]
            self.processes[place].send_signal(signal.SIGCONT)
        self.complete()
        place = self.random.randrange(AGENTS)
        if place in self.stopped:
            return
        if self.random.random() < 0.5:
            self.processes[place].kill()
            self.processes[place].wait()
            self.kills += 1
        else:
            self.processes[place].send_signal(signal.SIGSTOP)
            self.stopped[place] = now + STOPPED
            self.stops += 1

    def go_on(self):
        for place in list(self.stopped):
            del self.stopped[place]
            self.processes[place].send_signal(signal.SIGCONT)

    def close(self):
        for process in self.processes:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def journals(self):
        for path in sorted(pathlib.Path(self.folder).glob("journal-*")):
            for line in path.read_text(encoding="utf-8").splitlines():
                words = line.split()
                if len(words) == 4:     # a kill may have truncated the last line
                    yield words


def submit(server, count):
    ids = {}
    policy = {"strategy": "fixed", "max_retries": 1000, "interval": "0s"}
    for start in range(0, count, 1000):
        tasks = [{"type": "chaos", "payload": {"n": number}, "timeout": "10s", "retry": policy}
                 for number in range(start, min(start + 1000, count))]
        answer = server.call("POST", "/api/v1/runs/batch", {"runs": tasks})
        for task, result in zip(tasks, answer["results"]):
            ids[result["id"]] = task["payload"]["n"]
    equal(len(ids), count, "tasks")
    return ids


def await_end(server, crowd, count):
    """Disturbs the agents until all tasks have ended, but not during the last tasks."""
    def unfinished():
        page = server.call("GET", f"/api/v1/runs?{UNFINISHED}&limit=1&total=true")
        left = page["total"]["count"]
        if left > 20 * AGENTS:
            crowd.step()
        elif left > 0:
            crowd.go_on()
        return left, page["items"]

    wait_for(unfinished, lambda found: found[0] == 0, "the end of all tasks", LONG + count * 0.05,
             pause=0.15)


def be_late(server, crowd, ids):
    """Provokes a late report, which the random stops may have missed: stops an agent during its
    work, so that another agent gets the task and ends it before the first one resumes."""
    crowd.complete()
    task = {"type": "chaos", "payload": {"n": 1, "takes": 0.4}, "timeout": "10s",
            "retry": {"strategy": "fixed", "max_retries": 1000, "interval": "0s"}}

    def late_run():
        """Returns the id of a run with a late report; None if the stop did not hit the agent
        during its work."""
        run_id = server.call("POST", "/api/v1/runs", task, 201)["id"]
        ids[run_id] = task["payload"]["n"]
        owner = await_run(server, run_id, lambda run: run["state"] == "running", "running")["owner"]
        process = crowd.named[owner]
        process.send_signal(signal.SIGSTOP)
        run = await_run(server, run_id, lambda run: run["state"] == "succeeded", "succeeded")
        process.send_signal(signal.SIGCONT)
        # Otherwise the agent reported before the stop, or it was a killed agent whose poll got the
        # run.
        at_work = process.poll() is None and run["attempts"][-1]["owner"] != owner
        return run_id if at_work else None

    run_id = wait_until(late_run, "an agent that is stopped at work", LONG)
    wait_until(lambda: any(words[:2] == ["stale", run_id] for words in crowd.journals()),
               f"the refusal of the late report on {run_id}", LONG)


def await_run(server, run_id, is_so, what):
    return wait_for(lambda: server.call("GET", f"/api/v1/runs/{run_id}"), is_so,
                    f"{run_id} to be {what}", LONG)


def judge(server, ids, crowd):
    results = {}
    for run_id, number in ids.items():
        run = server.call("GET", f"/api/v1/runs/{run_id}")
        equal(run["state"], "succeeded", run_id)
        equal(run["result"]["n"], number, "the result of another task")
        ended = [attempt["outcome"] for attempt in run["attempts"]]
        equal(ended.count("succeeded"), 1, f"accepted results of {run_id}: {ended}")
        results[run_id] = run["result"]["exec_id"]
    accepted = late = 0
    for verdict, run_id, exec_id, outcome in crowd.journals():
        if outcome != "succeeded":
            continue
        if verdict == "ok":
            equal(results[run_id], exec_id, f"an accepted result of {run_id} is not there")
            accepted += 1
        else:
            equal(verdict, "stale", "verdict")
            check(results[run_id] != exec_id, f"a refused result of {run_id} was kept")
            late += 1
    check(accepted >= 0.5 * len(ids), f"only {accepted} were told that they are accepted")
    check(late > 0, "no report was late: this tested nothing")
    metrics = server.request("GET", "/metrics")[2]
    refused = next(line for line in metrics.splitlines()
                   if line.startswith("ksana_reports_refused_total "))
    check(float(refused.split()[1]) >= late, f"{refused}, but {late} were late")
    return accepted, late


@case
def every_task_has_one_result(server, crowd, count):
    began = time.monotonic()
    ids = submit(server, count)
    for place in range(AGENTS):
        crowd.start(place)
    await_end(server, crowd, count)
    be_late(server, crowd, ids)
    crowd.close()
    accepted, late = judge(server, ids, crowd)
    equal(server.stop(), 0, "exit code")
    say(f"{count} tasks in {time.monotonic() - began:.0f} s, {crowd.kills} kills, "
        f"{crowd.stops} stops, {accepted} results known to be accepted, {late} late ones refused")


class ChaosPlace(Place):
    def __enter__(self):
        super().__enter__()
        return self.server, self.crowd, self.given.tasks

    def open(self):
        say(f"seed {self.given.seed}")
        folder = self.new_folder("ksana_chaos_")
        self.server = self.enter_context(Server(self.given.ksana, store_of(self.given.store)))
        self.crowd = Crowd(self.server, folder, self.given.seed)
        self.callback(self.crowd.close)
        self.server.start()


def main():
    given = arguments("KSANA STORE", "TASKS SEED")
    given.tasks = int(given.tasks or os.environ.get("KSANA_CHAOS_TASKS", 500))
    given.seed = int(given.seed or random.randrange(1 << 30))
    run(given, lambda _: ChaosPlace(given))


if __name__ == "__main__":
    if sys.argv[1] == "agent":
        Agent(int(sys.argv[2]), sys.argv[3], sys.argv[4]).run()
    else:
        main()
