#!/usr/bin/env python3
"""Periodic tasks of document T (T-13 to T-15), on the built server.

usage: periodic_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
from kit.cases import arguments, case
from kit.checks import equal
from kit.places import run_on_store
from kit.server import Server
from kit.task_client import Tasks, faults
from kit.waiting import stays_so, wait_for, wait_until


def periodic(tasks, expect=201, **more):
    return tasks.call("POST", "/periodic-task", {"type": "tick", "cron_expressions": "* * * * * *",
                                                 **more}, expect)


def logged(tasks, made):
    """Returns the ids of the log entries of a periodic task."""
    lines = tasks.call("GET", f"/periodic-task-log?limit=500&periodic_task_id={made['id']}")
    return [line["id"] for line in lines]


@case
def t13_periodic_tasks_go_online_and_offline(tasks):
    """T-13"""
    made = periodic(tasks, tenant_id=4, creator=3, category="night", ext={"a": 1}, log="trans_log")
    equal([made[key] for key in ("tenant_id", "type", "creator", "cron_expressions", "status",
                                 "log", "category", "ext")],
          [4, "tick", 3, "* * * * * *", "new", "trans_log", "night", {"a": 1}], "as sent")
    path = f"/periodic-task/{made['id']}"
    equal(tasks.call("GET", path), made, "read again")
    equal(tasks.call("POST", path + "/online")["status"], "online", "online")
    task = tasks.fetch_one(type="tick")
    equal([task[key] for key in ("tenant_id", "creator", "category", "ext")],
          [4, 3, "night", {"a": 1}], "what it pushes")
    tasks.server.kill()
    tasks.server.start()
    equal(tasks.call("GET", path)["status"], "online", "after a restart")
    seen = len(logged(tasks, made))
    wait_until(lambda: len(logged(tasks, made)) > seen, "a fire after the restart")
    equal(tasks.call("POST", path + "/offline")["status"], "offline", "offline")
    tasks.fetch(type="tick", limit=500)
    log = logged(tasks, made)
    stays_so(lambda: logged(tasks, made) == log, "no fire while offline", during=1.5)
    equal([one["id"] for one in tasks.call("GET", "/periodic-task?type=tick")], [made["id"]],
          "listed")
    changed = tasks.call("PUT", path, {"type": "tock", "cron_expressions": "0 3 * * *"})
    equal((changed["type"], changed["status"], changed["creator"]), ("tock", "offline", 0), "PUT")
    tasks.call("DELETE", path, expect=204)
    tasks.call("GET", path, expect=404)
    tasks.call("POST", path + "/online", expect=404)


@case
def t13_bad_periodic_tasks_are_refused(tasks):
    """T-13"""
    for body, wanted in (({"type": "a", "cron_expressions": "61 * * * *"}, ["/cron_expressions"]),
                         ({"type": "a b", "cron_expressions": "* * * * *"}, ["/type"]),
                         ({"type": "a", "cron_expressions": "* * * * *", "status": "on"},
                          ["/status"]),
                         ({"cron_expression": "* * * * *"},
                          ["/cron_expression", "/cron_expressions", "/type"])):
        status, _, answer = tasks.request("POST", "/periodic-task", body)
        equal((status, faults(answer)), (400, wanted), f"{body}")
    equal(tasks.call("GET", "/periodic-task"), [], "nothing is there")
    tasks.call("GET", "/periodic-task-log", expect=400)
    job = tasks.server.create(id="k", schedule={"kind": "every", "every": "1h"},
                              http={"url": "http://127.0.0.1:9/"})
    tasks.call("GET", f"/periodic-task/{job['id']}", expect=404)


@case
def t14_logs_say_as_much_as_they_are_asked_to(tasks):
    """T-14"""
    tasks.metadata("tick", retry_strategy="none")
    made = {log: periodic(tasks, status="online", log=log, category=log, tenant_id=1)
            for log in ("none", "trigger_log", "trans_log")}

    def lines(log):
        found = tasks.call("GET", f"/periodic-task-log?periodic_task_id={made[log]['id']}")
        return {line["id"]: line for line in found}

    full = [tasks.fetch_one(category="trans_log") for _ in range(3)]
    equal(lines("trans_log")[full[0]["id"]]["result"], "executing", "while it runs")
    tasks.report(full[0], "Success")
    tasks.report(full[1], "Error", error_info="no disk")
    told = lines("trans_log")
    equal(sorted(told[full[0]["id"]]), sorted(["id", "periodic_task_id", "tenant_id", "result",
                                               "error_info", "create_date", "update_date"]), "line")
    equal([(told[task["id"]]["result"], told[task["id"]]["error_info"]) for task in full],
          [("success", ""), ("failure", "no disk"), ("executing", "")], "trans_log")
    task = tasks.fetch_one(category="trigger_log")
    tasks.report(task, "Error", error_info="no disk")
    equal((lines("trigger_log")[task["id"]]["result"], lines("trigger_log")[task["id"]]
           ["error_info"]), ("success", ""), "trigger_log: that it was triggered")
    task = tasks.fetch_one(category="none")
    equal(lines("none"), {}, "none, while it runs")
    tasks.report(task, "Success", expect=204)
    equal(lines("none"), {}, "none")


@case
def t15_what_a_periodic_task_pushes_is_retried(tasks):
    """T-15: the task has the retries of its type; several servers fire once"""
    tasks.metadata("tick", retry_strategy="fixed_period", retry_interval=1, max_error_count=2,
                   category="c")
    made = periodic(tasks, status="online")
    first = tasks.fetch_one(category="c")
    tasks.call("POST", f"/periodic-task/{made['id']}/offline")
    equal(tasks.report(first, "Error", error_info="no")["status"], "Error", "to be retried")
    again = wait_for(lambda: tasks.fetch_one(category="c"), lambda task: task["id"] == first["id"],
                     "the task to come back")
    equal(again["error_count"], 1, "as the same task")
    equal(tasks.report(again, "Success")["status"], "Success", "and succeeds")


@case
def t15_several_servers_fire_a_periodic_task_once(tasks):
    """T-15: three servers over one PostgreSQL"""
    if not tasks.server.store.startswith("postgres"):
        return
    others = [Server(tasks.server.binary, tasks.server.store) for _ in range(2)]
    try:
        for other in others:
            other.start()
        made = periodic(tasks, status="online")
        path = f"/periodic-task-log?limit=500&periodic_task_id={made['id']}"
        wait_until(lambda: len(tasks.call("GET", path)) >= 4, "four fires")
        runs = tasks.call("GET", f"/api/v1/jobs/{made['id']}/runs")["items"]
        fires = [run["nominal_at"] for run in runs]
        equal(len(fires), len(set(fires)), "each fire once")
        got = [task["id"] for other in [*others, tasks.server]
               for task in other.call("POST", "/task/fetch", {"type": "tick", "limit": 100})]
        equal(len(got), len(set(got)), "each task to one agent")
    finally:
        for other in others:
            other.stop()
            other.close()


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, _: Tasks(server))
