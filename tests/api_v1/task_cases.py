#!/usr/bin/env python3
"""Tasks over /api/v1 of the built server. Every answer is compared with the description.

usage: task_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import json
import subprocess
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from kit.agent_client import (EXCHANGE, RUNS, await_polls, claim, claim_one, pointers, show, submit,
                              tell)
from kit.api_client import run_api_cases
from kit.cases import case
from kit.checks import check, equal
from kit.waiting import PATIENCE


@case
def t01_a_task_is_submitted_with_all_it_says(api, _, __):  # T-01
    parent = submit(api)["id"]
    made = submit(api, payload={"to": ["a", 1, None]}, tenant="acme", creator="shop",
                  category="bulk", priority=8, timeout="5m", need_manual=True, parent=parent,
                  selector={"gpu": "yes"}, retry={"strategy": "fixed", "max_retries": 2},
                  unique={"key": "k", "states": ["queued", "running"], "period": "1h"})
    equal((made["state"], made["already"], made["trigger"], made["kind"]),
          ("queued", False, "submitted", "queue"), "the answer")
    run = show(api, made["id"])
    equal(run["payload"], {"to": ["a", 1, None]}, "payload")
    equal((run["tenant"], run["creator"], run["category"], run["priority"], run["parent"]),
          ("acme", "shop", "bulk", 8, parent), "members")
    equal((run["policy"]["timeout"], run["policy"]["need_manual"],
           run["policy"]["retry"]["max_retries"]), ("5m", True, 2), "policy")
    equal((run["selector"], run["unique_key"]), ({"gpu": "yes"}, "k"), "the rest")
    status, headers, _ = api.send("POST", RUNS, {"type": "mail"})
    equal(status, 201, "status")
    api.call("GET", headers["Location"])
    later = submit(api, delay="1h")
    equal(later["state"], "scheduled", "its time has not come")
    equal(submit(api, start_at="2020-01-01T00:00:00Z")["state"], "queued", "long past")


@case
def t01_many_tasks_in_one_call(api, _, __):  # T-01
    tasks = [{"type": "bulk", "payload": number} for number in range(2_500)]
    results = api.call("POST", RUNS + "/batch", {"runs": tasks})["results"]
    equal(len({result["id"] for result in results}), 2_500, "ids")
    equal({(result["verdict"], result["state"]) for result in results}, {("stored", "queued")},
          "verdicts")
    seen = []
    while len(seen) < 2_500:
        runs = claim(api, max=500)
        seen += [run["payload"] for run in runs]
        answer = api.call("POST", EXCHANGE, {"worker": "w", "reports": [
            {"run_id": run["run_id"], "exec_id": run["exec_id"], "outcome": "succeeded"}
            for run in runs]})
        equal({report["verdict"] for report in answer["reports"]}, {"ok"}, "reports")
    equal(sorted(seen), list(range(2_500)), "each once")
    claim(api, expect=204)


@case
def a_batch_is_stored_whole_or_not_at_all(api, _, __):
    problem = api.call("POST", RUNS + "/batch", {"runs": [
        {"type": "a"}, {"type": "a", "priority": 10}, {"tpye": "a"}]}, 400)
    equal(pointers(problem), ["/runs/2/tpye", "/runs/2/type"], "faults of the text come first")
    problem = api.call("POST", RUNS + "/batch", {"runs": [
        {"type": "a"}, {"type": "a", "priority": 10}, {"type": "b c"}]}, 400)
    equal(pointers(problem), ["/runs/1/priority", "/runs/2/type"], "faults")
    problem = api.call("POST", RUNS + "/batch", {"runs": [{"type": "a"}] * 10_001}, 400)
    equal(pointers(problem), ["/runs"], "too many")
    claim(api, expect=204)
    equal(api.call("POST", RUNS + "/batch", {"runs": []})["results"], [], "none")


@case
def a_unique_key_is_answered_with_who_holds_it(api, _, __):
    first = submit(api, unique={"key": "order-1"})
    status, headers, again = api.send("POST", RUNS, {"type": "mail", "unique": {"key": "order-1"}})
    equal((status, again["id"], again["already"], headers["Ksana-Already"]),
          (200, first["id"], True, "true"), "the same")
    results = api.call("POST", RUNS + "/batch", {"runs": [
        {"type": "mail", "unique": {"key": key}} for key in ("order-1", "order-2", "order-2")]})
    verdicts = [result["verdict"] for result in results["results"]]
    equal(verdicts, ["already", "stored", "already"], "verdicts")
    equal(results["results"][1]["id"], results["results"][2]["id"], "one run")
    submit(api, tenant="acme", unique={"key": "order-1"})
    tell(api, claim_one(api, tenant="default"), "succeed")
    check(submit(api, unique={"key": "order-1"})["id"] != first["id"], "it is over")


@case
def what_is_sent_twice_is_there_once(api, _, __):
    task = {"id": str(uuid.uuid4()), "type": "mail", "payload": {"n": 1}}
    answers = [api.call("POST", RUNS, task, 201) for _ in range(3)]
    equal({json.dumps(answer) for answer in answers}, {json.dumps(answers[0])}, "the same answer")
    problem = api.call("POST", RUNS, {**task, "payload": {"n": 2}}, 409)
    equal(problem["code"], "already_exists", "another task")
    problem = api.call("POST", RUNS, {**task, "tenant": "acme"}, 409)
    equal(problem["code"], "already_exists", "another tenant's id")
    results = api.call("POST", RUNS + "/batch", {"runs": [task, {"type": "mail"}]})["results"]
    equal([result["verdict"] for result in results], ["already", "stored"], "in a batch")
    made = [api.call("POST", RUNS, {"type": "x"}, 201, Idempotency_Key="k")["id"]
            for _ in range(2)]
    equal(made[0], made[1], "by its key")
    equal(len(claim(api, max=10)), 3, "runs")


@case
def tasks_are_submitted_inside_a_transaction(api, server, _):
    """A transaction of the caller stores its data and the tasks, or neither. PostgreSQL only."""
    if not server.store.startswith("postgres"):
        return

    def sql(text):
        done = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", server.store],
                              input=text, capture_output=True, text=True, check=False)
        equal(done.returncode, 0, done.stderr)
        return done.stdout.split()

    submitted = "SELECT ksana.ksana_submit('sql', '{\"n\": 1}', unique_key => 'k');"
    [gone] = sql(f"BEGIN; {submitted} ROLLBACK;")
    api.call("GET", f"{RUNS}/{gone}", expect=404)
    claim(api, expect=204)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(claim_one, api, types=["sql"], wait="30s")
        await_polls(api, 1)
        began = time.monotonic()
        first, again = sql(f"BEGIN; {submitted} {submitted} COMMIT;")
        equal(first, again, "one run holds the key")
        run = waits.result(PATIENCE)
        check(time.monotonic() - began < 5, "the poll had no notification")
    equal((run["run_id"], run["payload"], run["attempt"]), (first, {"n": 1}, 1), "the run")
    through_http = api.call("POST", RUNS, {"type": "sql"}, 201)
    equal(show(api, first)["policy"], show(api, through_http["id"])["policy"], "the same defaults")
    tell(api, run, "succeed")
    check(sql(submitted) != [first], "the key is free again")


if __name__ == "__main__":
    run_api_cases()
