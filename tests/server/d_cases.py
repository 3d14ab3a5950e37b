#!/usr/bin/env python3
"""Every requirement of document D that needs no message queue: the built server, and scripted
workers. d_worker_cases.py has those that register (D-05, D-06).

usage: d_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import re
from concurrent.futures import ThreadPoolExecutor

from kit.agent_client import tell
from kit.cases import arguments, case
from kit.checks import check, equal
from kit.dispatcher_client import Dispatcher
from kit.places import run_on_store
from kit.postgres import psql
from kit.task_client import faults
from kit.times import time_of, utc_now
from kit.waiting import stays_so, wait_until

EXECUTION = ["id", "task_id", "run_id", "status", "retry_count", "worker_id", "trigger",
             "scheduled_time", "next_run_time", "start_time", "end_time", "duration_ms", "result",
             "error", "trace_id"]
NO_RUN = "01928374-0000-7000-8000-000000000001"


def seconds_between(early, late):
    return (time_of(late) - time_of(early)).total_seconds()


@case
def d01_a_task_that_is_due_gets_an_execution(api):
    """D-01: an ACTIVE task, and no INACTIVE one. Its message queue is the next issue's."""
    task = api.create(schedule="* * * * * *", type="tick", params={"n": 1})
    quiet = api.create(schedule="* * * * * *", type="tick", status="INACTIVE")
    check(time_of(task["next_run_time"]) > time_of(task["created_at"]), "next_run_time")
    equal(quiet["next_run_time"], None, "an inactive task has none")
    run = api.take(types=["tick"])
    equal((run["job_id"], run["payload"]), (task["id"], {"n": 1}), "the run that a worker gets")
    fired = api.await_executions(task["id"], lambda all: len(all) >= 2, "two fires")
    check(any(one["status"] == "DISPATCHED" for one in fired), f"one waits in the queue {fired}")
    first = fired[-1]
    equal((first["status"], first["worker_id"], first["trigger"]), ("RUNNING", "w", "fire"),
          "taken")
    equal(time_of(first["scheduled_time"]).microsecond, 0, "the time of the schedule")
    equal(api.executions(quiet["id"]), [], "INACTIVE does not fire")


@case
def d03_state_end_time_and_result_change_together(api):
    """D-03: whoever reads an execution sees all of a change or nothing of it"""
    task = api.create()
    made = api.trigger(task["id"])
    run = api.take()
    running = api.execution(task["id"], made["id"])
    equal((running["status"], running["end_time"], running["result"]), ("RUNNING", None, None),
          "while it runs")
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(tell, api, run, "succeed", result={"rows": 7})
        while True:
            seen = api.execution(task["id"], made["id"])
            complete = (seen["status"] == "COMPLETED", seen["end_time"] is not None,
                        seen["result"] == {"rows": 7})
            check(len(set(complete)) == 1, f"half a change: {seen}")
            if complete[0]:
                break
        told.result()
    equal(seen["worker_id"], "w", "worker_id")
    check(time_of(seen["start_time"]) <= time_of(seen["end_time"]) <= utc_now(), "times")
    tell(api, run, "fail", expect=409, error={"message": "too late"})
    equal(api.execution(task["id"], made["id"]), seen, "what has ended stays as it is")
    other = api.trigger(api.create(max_retries=0)["id"])
    tell(api, api.take(), "fail", error={"type": "IOError", "message": "no disk"})
    failed = api.execution(other["task_id"], other["id"])
    equal((failed["status"], failed["error"], failed["result"]), ("FAILED", "IOError: no disk",
                                                                  None), "failed")


@case
def d04_over_its_timeout_an_execution_is_stopped(api):
    """D-04: TIMEOUT; the worker is told to stop, and what it reports is not taken"""
    task = api.create(timeout=0.3, max_retries=0, type="slow")
    again = api.create(timeout=0.3, max_retries=1, base_interval=0, type="again")
    made, retried = api.trigger(task["id"]), api.trigger(again["id"])
    run = api.take(lease="60s", types=["slow"])
    api.take(types=["again"])
    ended = api.until(made, "TIMEOUT")
    check(0.29 <= seconds_between(ended["start_time"], ended["end_time"]) < 3, f"{ended}")
    check("timed out" in ended["error"], f"the reason: {ended['error']}")
    tell(api, run, "heartbeat", expect=409)
    tell(api, run, "succeed", expect=409, result=1)
    equal(api.execution(task["id"], made["id"]), ended, "unchanged")
    statistics = api.get(task["id"])["statistics"]
    equal((statistics["timeout"], statistics["failed"]), (1, 0), "statistics")
    api.until(retried, "TIMEOUT")
    tell(api, api.take(types=["again"]), "succeed")
    equal(api.statuses(again["id"]), ["TIMEOUT", "COMPLETED"], "tried again while retries are left")


@case
def d07_a_task_is_made_and_shown(api):
    """D-07: POST → 201 and the task"""
    body = {"name": "nightly report", "schedule": "0 3 * * *", "zone": "Europe/Berlin",
            "type": "report", "params": {"day": "monday", "deep": [1, None]}, "timeout": 1.5,
            "max_retries": 4, "base_interval": 0.25, "priority": 8, "status": "ACTIVE",
            "depends_on": [], "on_dependency_failure": "skip"}
    status, headers, made = api.request("POST", "/api/tasks", body)
    equal(status, 201, f"{made}")
    equal(headers["Location"], f"/api/tasks/{made['id']}", "Location")
    equal({key: made[key] for key in body}, body, "as sent")
    check(time_of(made["next_run_time"]) > utc_now(), "next_run_time")
    equal((made["last_run_time"], made["last_status"], made["version"]), (None, None, 1), "new")
    shown = api.get(made["id"])
    equal({**made, "recent_executions": [], "statistics": shown["statistics"]}, shown, "shown")
    equal(shown["statistics"], {"total": 0, "completed": 0, "failed": 0, "timeout": 0,
                                "cancelled": 0, "skipped": 0, "success_rate": None,
                                "average_duration_ms": None}, "no statistics yet")
    plain = api.create()
    equal((plain["status"], plain["params"], plain["zone"], plain["timeout"], plain["priority"]),
          ("ACTIVE", {}, "UTC", None, 5), "defaults")
    v1 = api.call("GET", f"/api/v1/jobs/{made['id']}")
    equal((v1["schedule"]["cron"], v1["queue"]["type"], v1["timeout"]),
          ("0 3 * * *", "report", "1.5s"), "the same job in /api/v1")
    own = api.create(id="chosen")
    equal(own["id"], "chosen", "an id of the client's")
    api.create(id="chosen", expect=409)


@case
def d07_one_task_has_executions_and_statistics(api):
    """D-07: GET one with its recent executions and statistics"""
    task = api.create(max_retries=0)
    for verb, words in (("succeed", {"result": 1}), ("succeed", {}),
                        ("fail", {"error": {"message": "no"}})):
        api.trigger(task["id"], {"params": {"verb": verb}})
        run = api.take()
        equal(run["payload"], {"verb": verb}, "the parameters of the trigger")
        tell(api, run, verb, **words)
    api.call("POST", f"/api/v1/runs/{api.trigger(task['id'])['run_id']}/cancel")
    shown = api.get(task["id"])
    equal([one["status"] for one in shown["recent_executions"]],
          ["CANCELLED", "FAILED", "COMPLETED", "COMPLETED"], "newest first")
    equal(sorted(shown["recent_executions"][0]), sorted(EXECUTION), "members")
    statistics = shown["statistics"]
    average = statistics.pop("average_duration_ms")
    equal(round(statistics.pop("success_rate"), 3), 0.667, "of those that were carried out")
    equal(statistics, {"total": 4, "completed": 2, "failed": 1, "timeout": 0, "cancelled": 1,
                       "skipped": 0}, "statistics")
    ran = [one["duration_ms"] for one in shown["recent_executions"][1:]]
    check(min(ran) <= average <= max(ran) + 1, f"the average {average} of {ran}")
    equal((shown["last_status"], shown["last_run_time"] is not None), ("CANCELLED", True), "last")
    for _ in range(9):
        api.trigger(task["id"])
    equal(len(api.get(task["id"])["recent_executions"]), 10, "ten are recent")


@case
def d07_lists_have_pages_and_filters(api):
    """D-07: page, size, status, name"""
    ids = [api.create(name=f"task {'abc'[n % 3]}z", status="INACTIVE" if n % 2 else "ACTIVE")["id"]
           for n in range(7)]
    api.call("POST", "/jobs", {"id": "http", "name": "task az", "type": "http",
                               "http": {"url": "http://127.0.0.1:9/"},
                               "schedule": {"kind": "cron", "cron": "0 0 1 1 *"}}, 201)
    api.call("POST", "/api/v1/jobs", {"id": "every", "name": "task az", "type": "queue",
                                      "queue": {"type": "work"},
                                      "schedule": {"kind": "every", "every": "1h"}}, 201)
    whole = api.call("GET", "/api/tasks")
    equal([one["id"] for one in whole["items"]], ids, "all tasks in the order of their making")
    equal((whole["page"], whole["size"], whole["total"], whole["relation"]), (1, 20, 7, "exact"),
          "numbers")
    page = api.call("GET", "/api/tasks?page=3&size=3")
    equal(([one["id"] for one in page["items"]], page["page"], page["size"], page["total"]),
          (ids[6:], 3, 3, 7), "the last page")
    equal(api.call("GET", "/api/tasks?page=4&size=3")["items"], [], "behind the last page")
    for query, expected in (("status=ACTIVE", ids[0::2]), ("status=INACTIVE", ids[1::2]),
                            ("name=task%20bz", ids[1::3]), ("q=TASK+CZ", ids[2::3]),
                            ("name=task%20bz&status=ACTIVE", [ids[4]]), ("name=task", []),
                            ("type=work&name=task%20az", ids[0::3])):
        found = api.call("GET", "/api/tasks?" + query)
        equal(([one["id"] for one in found["items"]], found["total"]), (expected, len(expected)),
              query)
    for query, place in (("page=0", "page"), ("size=501", "size"), ("size=0", "size"),
                         ("status=active", "status"), ("nmae=x", "nmae"), ("page=x", "page"),
                         ("page=501&size=20", "page")):
        status, _, answer = api.request("GET", "/api/tasks?" + query)
        equal((status, faults(answer)), (400, [f"/query/{place}"]), query)
    for one in ("http", "every", "none"):
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/trigger"),
                             ("GET", "/executions")):
            equal(api.request(method, f"/api/tasks/{one}{path}")[0], 404, f"{method} {one}{path}")
        equal(api.request("PUT", f"/api/tasks/{one}", {"name": "x", "schedule": "@daily",
                                                       "type": "t"})[0], 404, f"PUT {one}")


@case
def d07_a_change_is_effective_at_the_next_schedule(api):
    """D-07: PUT replaces the task; what exists already goes on as it was"""
    task = api.create(name="old", params={"v": 1}, max_retries=5, priority=9, timeout=60)
    made = api.trigger(task["id"])
    changed = api.put(task, name="new", schedule="30 4 * * *", params={"v": 2}, type="other")
    equal((changed["name"], changed["schedule"], changed["version"]), ("new", "30 4 * * *", 2),
          "changed")
    check(changed["next_run_time"] != task["next_run_time"], "fires by the new schedule")
    run = api.take(types=["work"])
    equal((run["payload"], run["timeout"]), ({"v": 1}, "1m"), "the execution that there was")
    tell(api, run, "succeed")
    equal(api.until(made, "COMPLETED")["params"], {"v": 1}, "it keeps its parameters")
    api.trigger(task["id"])
    equal(api.take(types=["other"])["payload"], {"v": 2}, "the next execution")
    plain = api.call("PUT", f"/api/tasks/{task['id']}", {"name": "n", "schedule": "@daily",
                                                         "type": "t"})
    equal((plain["params"], plain["timeout"], plain["priority"]), ({}, None, 5),
          "what is not said has its default")
    status, _, answer = api.request("PUT", f"/api/tasks/{task['id']}", {"name": "n"})
    equal((status, faults(answer)), (400, ["/schedule", "/type"]), "a replacement is whole")
    status, _, answer = api.request("PUT", f"/api/tasks/{task['id']}", {**plain, "id": "x"})
    equal((status, faults(answer)), (400, ["/id"]), "an id stays")
    equal(api.get(task["id"])["version"], 3, "what is refused changes nothing")


@case
def d07_deleting_makes_a_task_inactive(api):
    """D-07: DELETE → INACTIVE: no more fires, the history stays"""
    task = api.create(schedule="* * * * * *", type="tick")
    api.await_executions(task["id"], bool, "a fire")
    gone = api.delete(task["id"])
    equal((gone["status"], gone["next_run_time"]), ("INACTIVE", None), "inactive")
    fired = api.executions(task["id"])
    stays_so(lambda: api.executions(task["id"]) == fired, "no more fires", 1.2)
    equal(api.delete(task["id"]), gone, "again: nothing to do")
    api.take(types=["tick"])
    made = api.trigger(task["id"])
    check(made["status"] in ("PENDING", "DISPATCHED"), "a trigger is not bound to the schedule")
    active = api.put(gone, status="ACTIVE")
    check(active["next_run_time"], "active again")
    equal(api.put(api.delete(task["id"]), name="x", status=None)["status"], "INACTIVE",
          "a change without a status keeps it")


@case
def d07_a_trigger_executes_at_once(api):
    """D-07: whatever the schedule says"""
    task = api.create(params={"a": 1})
    status, headers, made = api.request("POST", f"/api/tasks/{task['id']}/trigger")
    equal(status, 201, "status")
    equal(headers["Location"], f"/api/tasks/{task['id']}/executions/{made['id']}", "Location")
    equal(sorted(made), sorted(EXECUTION), "members")
    equal((made["task_id"], made["status"], made["retry_count"], made["trigger"]),
          (task["id"], "DISPATCHED", 0, "manual"), "the execution")
    equal(made["id"], made["run_id"] + ".0", "its id")
    equal(api.take()["payload"], {"a": 1}, "a worker gets it")
    equal(api.trigger(task["id"], {"params": [1]})["status"], "DISPATCHED", "also while one runs")
    equal(api.take()["payload"], [1], "with parameters of its own")
    status, _, answer = api.request("POST", f"/api/tasks/{task['id']}/trigger", {"parms": 1})
    equal((status, faults(answer)), (400, ["/parms"]), "an unknown member")
    equal(len(api.executions(task["id"])), 2, "and no execution of it")


@case
def d07_bad_input_is_refused_with_every_fault(api):
    """D-07: 400 names all that is wrong, in the names of the document; nothing is stored"""
    status, headers, answer = api.request("POST", "/api/tasks", {
        "name": "", "schedule": "61 * * * *", "zone": "Mars/Base", "type": "a b", "timeout": 0,
        "max_retries": -1, "base_interval": "1s", "priority": 10, "status": "ON",
        "on_dependency_failure": "wait", "shedule": "x"})
    equal(status, 400, "status")
    check(headers["Content-Type"].startswith("application/problem+json"), "problem+json")
    equal(faults(answer), ["/base_interval", "/max_retries", "/name", "/on_dependency_failure",
                           "/priority", "/schedule", "/shedule", "/status", "/timeout", "/type",
                           "/zone"], "every fault")
    check(all(fault["detail"] for fault in answer["errors"]), f"with its reason {answer}")
    for body in ("", "{", "[]", '{"name": 1}', '{"name": "x", "name": "y"}'):
        equal(api.request("POST", "/api/tasks", body)[0], 400, repr(body))
    status, _, answer = api.request("POST", "/api/tasks", {})
    equal(faults(answer), ["/name", "/schedule", "/type"], "what is missing")
    for schedule in ("", "* * *", "0 0 30 2 *", "every day"):
        status, _, answer = api.request("POST", "/api/tasks", {"name": "n", "type": "t",
                                                               "schedule": schedule})
        equal((status, faults(answer)), (400, ["/schedule"]), repr(schedule))
    equal(api.call("GET", "/api/tasks")["total"], 0, "nothing is stored")


@case
def d08_each_retry_is_an_execution_of_its_own(api):
    """D-08: retry_count + 1 at base_interval × 2^n while retries are left, then FAILED"""
    base = 0.2
    task = api.create(max_retries=3, base_interval=base)
    made = api.trigger(task["id"])
    for n in range(4):
        tell(api, api.take(f"w{n}"), "fail", error={"message": f"failure {n}"})
        newest, failed = api.executions(task["id"], "?size=2") if n < 3 else (
            None, api.executions(task["id"])[0])
        equal((failed["status"], failed["retry_count"], failed["error"], failed["worker_id"]),
              ("FAILED", n, f"failure {n}", f"w{n}"), f"failure {n}")
        if newest is None:
            break
        check(newest["status"] in ("PENDING", "DISPATCHED"), f"a new execution {newest}")
        equal((newest["retry_count"], newest["run_id"]), (n + 1, made["run_id"]), "its number")
        if newest["next_run_time"]:
            equal(round(seconds_between(failed["end_time"], newest["next_run_time"]), 3),
                  round(base * 2 ** n, 3), f"the wait before retry {n + 1}")
    equal(api.statuses(task["id"]), ["FAILED"] * 4, "four executions, and no more")
    equal(api.claim(), [], "nothing to do")
    equal(api.get(task["id"])["statistics"]["failed"], 1, "one fire has failed")
    once = api.trigger(api.create(max_retries=0)["id"])
    tell(api, api.take(), "fail", error={"message": "no"})
    equal(api.statuses(once["task_id"]), ["FAILED"], "max_retries 0: no retry")
    page = api.call("GET", f"/api/tasks/{task['id']}/executions?page=2&size=3")
    equal(([one["retry_count"] for one in page["items"]], page["total"]), ([0], 4), "pages")


@case
def d09_changes_do_not_mix(api):
    """D-09: of many changes of one version one is stored; no execution is handed out twice"""
    task = api.create(name="first")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: api.request(
            "PUT", f"/api/tasks/{task['id']}", {**task, "name": f"by {n}"})[0], range(8)))
        equal(sorted(answers), [200] + [409] * 7, "one of them")
        equal(api.get(task["id"])["version"], 2, "stored once")
        made = list(pool.map(lambda _: api.trigger(task["id"])["id"], range(40)))
        taken = [run["run_id"] for runs in pool.map(
            lambda n: api.claim(f"w{n}", max=40), range(8)) for run in runs]
    equal(sorted(run + ".0" for run in taken), sorted(made), "each once")
    status, _, answer = api.request("PUT", f"/api/tasks/{task['id']}", task)
    equal((status, answer["code"]), (409, "conflict"), "an old version")


@case
def d10_after_a_restart_all_that_was_under_way_goes_on(api):
    """D-10: DISPATCHED and RUNNING are looked at again"""
    task = api.create(max_retries=2, base_interval=0, timeout=60)
    lost, kept = api.trigger(task["id"]), api.trigger(task["id"])
    gone = api.take("gone", lease="1s")
    equal(gone["run_id"], lost["run_id"], "the first one runs")
    steady = api.take("steady", lease="60s")
    waiting = api.trigger(task["id"])
    equal(waiting["status"], "DISPATCHED", "the third one waits")
    api.server.kill()
    api.server.start()
    equal(api.until(lost, "FAILED")["worker_id"], "gone", "its worker was not heard of")
    tell(api, steady, "succeed", result="kept")
    equal(api.execution(task["id"], kept["id"])["result"], "kept", "a worker that lives goes on")
    again = {run["run_id"]: run for run in (api.take("new"), api.take("new"))}
    equal(sorted(again), sorted([lost["run_id"], waiting["run_id"]]), "both are handed out")
    for run in again.values():
        tell(api, run, "succeed")
    equal([one["status"] for one in api.executions(task["id"]) if one["run_id"] == lost["run_id"]],
          ["COMPLETED", "FAILED"], "the retry of what was lost")


@case
def d11_a_lost_database_connection_is_made_again(api):
    """D-11: only PostgreSQL has connections"""
    if not api.server.store.startswith("postgres"):
        return
    task = api.create()
    made = api.trigger(task["id"])
    psql(api.server.store, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                           "WHERE datname = current_database() AND pid <> pg_backend_pid()")
    run = wait_until(lambda: api.request("POST", "/api/v1/agent/claim", {"worker": "w"})[2].get(
        "runs"), "a claim after the cut")[0]
    tell(api, run, "succeed", result=1)
    equal(api.execution(task["id"], made["id"])["status"], "COMPLETED", "it goes on")
    check(any(re.search(r"\b(WARN|ERROR)\b", line, re.IGNORECASE) for line in api.server.lines),
          "the log says so")


@case
def d12_errors_are_kept_with_their_trace_and_log(api):
    """D-12: error and stack with the execution; the whole log in the history"""
    task = api.create(max_retries=1, base_interval=0, params={"n": 1})
    made = api.trigger(task["id"])
    run = api.take()
    tell(api, run, "heartbeat", expect=200, log=["opened", "reading"])
    tell(api, run, "fail", log=["gave up"],
         error={"type": "IOError", "message": "no disk", "stack": "at read()\nat main()"})
    tell(api, api.take(), "succeed", log=["second time"], result={"ok": True})
    first = api.execution(task["id"], made["id"])
    equal((first["status"], first["error"], first["stack_trace"]),
          ("FAILED", "IOError: no disk", "at read()\nat main()"), "error and stack")
    equal(first["log"], ["opened", "reading", "gave up"], "the log")
    equal((first["params"], first["detail"]["error"]["type"]), ({"n": 1}, "IOError"), "the rest")
    second = api.execution(task["id"], made["run_id"] + ".1")
    equal((second["status"], second["log"], second["stack_trace"], second["error"]),
          ("COMPLETED", ["second time"], None, None), "the retry has its own")
    equal(first["trace_id"], second["trace_id"], "one trace")
    other = api.create()
    for execution in (made["run_id"] + ".2", made["run_id"], NO_RUN + ".0", "x"):
        equal(api.request("GET", f"/api/tasks/{task['id']}/executions/{execution}")[0], 404,
              execution)
    equal(api.request("GET", f"/api/tasks/{other['id']}/executions/{made['id']}")[0], 404,
          "of another task")


@case
def d17_a_task_waits_for_the_task_it_depends_on(api):
    """D-17: only when the latest execution of the other one was COMPLETED; else skip, delay, run"""
    base = api.create(type="base", max_retries=0)
    tasks = {word: api.create(schedule="* * * * * *", type=word, depends_on=[base["id"]],
                              on_dependency_failure=word) for word in ("skip", "delay", "run")}
    shown = api.get(tasks["delay"]["id"])
    equal((shown["depends_on"], shown["on_dependency_failure"]), ([base["id"]], "delay"), "shown")
    words = list(tasks)
    for task in tasks.values():
        api.await_executions(task["id"], bool, "a fire")
    equal(api.claim(types=words, max=100), [], "the other one was never executed")
    for task in tasks.values():
        equal(set(api.statuses(task["id"])), {"PENDING"}, "each fire waits")
    api.trigger(base["id"])
    tell(api, api.take(types=["base"]), "fail", error={"message": "no"})
    skipped = api.await_executions(tasks["skip"]["id"], lambda all: any(
        one["status"] == "SKIPPED" for one in all), "a skipped fire")
    check(all(base["id"] in one["error"] or "dependency" in one["error"] for one in skipped
              if one["status"] == "SKIPPED"), f"and why: {skipped}")
    equal(api.take(types=["run"])["job_id"], tasks["run"]["id"], "run: it starts all the same")
    equal(api.claim(types=["delay", "skip"], max=100), [], "no other one starts")
    equal(set(api.statuses(tasks["delay"]["id"])), {"PENDING"}, "delay: it waits")
    api.trigger(base["id"])
    tell(api, api.take(types=["base"]), "succeed")
    equal(api.take(types=["delay"])["job_id"], tasks["delay"]["id"], "now it starts")
    equal(api.take(types=["skip"])["job_id"], tasks["skip"]["id"], "and what fires from now on")


@case
def d17_a_task_that_others_depend_on_cannot_be_deleted(api):
    """D-17: refused, and the others are named; no cycles; no unknown tasks"""
    base = api.create(id="base")
    api.create(id="top", depends_on=["base"])
    api.create(id="side", depends_on=["base"])
    status, _, answer = api.request("DELETE", "/api/tasks/base")
    equal((status, answer["code"]), (409, "conflict"), f"{answer}")
    check("side" in answer["detail"] and "top" in answer["detail"], f"named: {answer['detail']}")
    equal(api.get("base")["status"], "ACTIVE", "nothing has changed")
    for body, place in (({"depends_on": ["top"]}, "/depends_on/0"),
                        ({"depends_on": ["base"]}, "/depends_on/0"),
                        ({"depends_on": ["side", "none"]}, "/depends_on/1")):
        status, _, answer = api.request("PUT", "/api/tasks/base", {**base, **body})
        equal(status, 400, f"{body}: {answer}")
        check(place in faults(answer), f"{body}: {faults(answer)}")
    api.delete("top")
    equal(api.request("DELETE", "/api/tasks/base")[0], 409, "one is left")
    api.put(api.get("side"), depends_on=[])
    equal(api.delete("base")["status"], "INACTIVE", "nobody needs it any more")


@case
def d18_work_goes_to_the_workers_that_suit_it(api):
    """D-18: by type; more workers share the work; the more urgent first (D-16)"""
    resize, mail = api.create(type="resize"), api.create(type="mail")
    urgent = api.create(type="mail", priority=9)
    for task in (resize, mail, mail, urgent):
        api.trigger(task["id"])
    equal(api.take("mailer", types=["mail"])["job_id"], urgent["id"], "the urgent one first")
    equal([one["type"] for one in api.claim("m", types=["mail"], max=9)],
          ["mail", "mail"], "what a worker serves")
    equal(api.take("any")["job_id"], resize["id"], "types left out: any")
    for _ in range(30):
        api.trigger(resize["id"])

    def work(name):
        done = 0
        while runs := api.claim(name, types=["resize"], max=3):
            for run in runs:
                tell(api, run, "succeed")
            done += len(runs)
        return done

    with ThreadPoolExecutor(3) as pool:
        equal(sum(pool.map(work, ("a", "b", "c"))), 30, "all is done, each once")
    equal(api.get(resize["id"])["statistics"]["completed"], 30, "completed")


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, _: Dispatcher(server))
