#!/usr/bin/env python3
"""Async tasks of document T: the built server, and agents that fetch tasks. periodic_cases.py tests
periodic tasks, callback_cases.py callbacks (T-10, T-11).

usage: t_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from kit.cases import arguments, case
from kit.checks import check, equal
from kit.places import run_on_store
from kit.task_client import Tasks, faults
from kit.times import after, time_of, utc_now
from kit.waiting import PATIENCE

UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$")
MEMBERS = ["id", "tenant_id", "type", "creator", "start_time", "status", "executing_deadline",
           "exec_id", "error_count", "error_info", "category", "remark", "ext", "result",
           "exec_time", "create_date", "update_date"]


@case
def t01_a_task_has_all_that_the_document_names(tasks):
    """T-01"""
    start = after(-5)
    made = tasks.submit("transcode", tenant_id=42, creator=7, category="media", start_time=start,
                        ext={"file": "a.mp4", "deep": [1, {"x": None}]})
    equal(sorted(made), sorted(MEMBERS), "members")
    check(UUID.match(made["id"]), f"id {made['id']}")
    equal([made[key] for key in ("tenant_id", "type", "creator", "category", "status")],
          [42, "transcode", 7, "media", "New"], "as sent")
    equal(made["ext"], {"file": "a.mp4", "deep": [1, {"x": None}]}, "ext")
    check(time_of(start) <= time_of(made["start_time"]) <= utc_now(), "a time past is now")
    later = after(3600)
    equal(time_of(tasks.submit(start_time=later)["start_time"]), time_of(later), "start_time")
    equal([made[key] for key in ("exec_id", "executing_deadline", "result", "remark")],
          [None, None, None, ""], "nothing yet")
    equal((made["error_count"], made["error_info"], made["exec_time"]), (0, "", 0), "no tries")
    check(time_of(made["create_date"]) <= utc_now(), "create_date")
    equal(tasks.get(made["id"]), made, "read again")
    plain = tasks.submit("transcode", tenant_id="acme", creator="ann")
    equal((plain["tenant_id"], plain["creator"], plain["ext"]), ("acme", "ann", {}), "texts")
    equal(tasks.submit()["creator"], 0, "no creator is 0")
    many = tasks.call("POST", "/task", [{"type": "many", "ext": {"n": n}} for n in range(500)], 201)
    equal(len({one["id"] for one in many}), 500, "an array")
    equal([tasks.get(many[n]["id"])["ext"]["n"] for n in (0, 77, 499)], [0, 77, 499], "in order")
    taken = tasks.fetch_one(type="transcode", tenant_id=42)
    tasks.report(taken, "Success", result={"frames": 9})
    done = tasks.get(made["id"])
    equal((done["result"], done["status"]), ({"frames": 9}, "Success"), "done")


@case
def t01_the_same_id_again_is_the_same_task(tasks):
    """T-01: a submission whose answer was lost can be sent again"""
    made = tasks.submit(ext={"n": 1})
    again = tasks.call("POST", "/task", {"id": made["id"], "type": "work", "ext": {"n": 1}}, 200)
    equal(again, made, "the task that is there")


@case
def t01_bad_tasks_are_refused_whole(tasks):
    """T-01: every fault is named, nothing is stored"""
    status, _, answer = tasks.request("POST", "/task", {"tpye": "a", "tenant_id": [1],
                                                        "start_time": "soon", "creator": 1.5})
    equal(status, 400, "status")
    equal(faults(answer), ["/creator", "/start_time", "/tenant_id", "/tpye", "/type"], "faults")
    status, _, answer = tasks.request("POST", "/task", [{"type": "a"}, {"type": "a b"}, {}])
    equal(status, 400, f"an array with faults {answer}")
    status, _, answer = tasks.request("POST", "/task", [{"type": "a"}, {"type": "a b"}])
    equal((status, faults(answer)), (400, ["/1/type"]), "named by its place")
    status, _, answer = tasks.request("POST", "/task", [{"type": "a"}] * 10_001)
    equal(status, 400, "more than 10000")
    equal(tasks.listed(), [], "nothing is there")
    equal(tasks.request("GET", "/task/none")[0], 404, "no such task")
    equal(tasks.request("GET", "/task/0190b6a5-7c1e-7d2a-8f3b-123456789abc")[0], 404, "nor this")


@case
def t02_every_state_has_its_word(tasks):
    """T-02: New, Executing, Success, Error, Failure, Pending, ManuallyProcessed, Cancelled.
    callback_cases.py has Completed."""
    tasks.metadata("again", retry_strategy="fixed_period", retry_interval=3600, max_error_count=1)
    tasks.metadata("person", retry_strategy="none", need_manual=True)
    made = tasks.submit("again")
    equal(made["status"], "New", "submitted")
    task = tasks.fetch_one(type="again")
    equal(tasks.status(made["id"]), "Executing", "fetched")
    equal(tasks.report(task, "Error", error_info="no disk")["status"], "Error", "to be retried")
    equal(tasks.get(made["id"])["error_info"], "no disk", "error_info")
    tasks.submit("plain")
    equal(tasks.report(tasks.fetch_one(type="plain"), "Success")["status"], "Success", "Success")
    tasks.submit("plain")
    equal(tasks.report(tasks.fetch_one(type="plain"), "Failure", error_info="broken")["status"],
          "Failure", "neither again nor for a person")
    tasks.submit("person")
    held = tasks.report(tasks.fetch_one(type="person"), "Error", error_info="look at this")
    equal(held["status"], "Pending", "a person must look")
    tasks.submit("person")
    equal(tasks.report(tasks.fetch_one(type="person"), "Failure")["status"], "Failure",
          "the agent says that no person need look")
    closed = tasks.call("POST", f"/task/{held['id']}/process", {"remark": "done"})
    equal(closed["status"], "ManuallyProcessed", "closed")
    waiting = tasks.submit("plain")
    gone = tasks.call("POST", f"/task/{waiting['id']}/cancel")
    equal(gone["status"], "Cancelled", "cancelled")
    equal(tasks.fetch(type="plain"), [], "and not handed out")
    status, _, answer = tasks.request("POST", f"/task/{held['id']}/report",
                                      {"exec_id": "x", "status": "Done"})
    equal((status, faults(answer)), (400, ["/status"]), "a word that there is not")


@case
def t02_lists_are_filtered_by_status_and_the_rest(tasks):
    """T-02, T-03: status, type, category, tenant_id, creator; pages"""
    tasks.metadata("again", retry_strategy="fixed_period", retry_interval=3600, max_error_count=5)
    tried = tasks.submit("again", tenant_id=1, creator=5, category="x")
    tasks.report(tasks.fetch_one(type="again"), "Error", error_info="no")
    fresh = [tasks.submit("again", tenant_id=2, creator=6, category="y")["id"] for _ in range(5)]
    equal(tasks.listed("/task?status=Error"), [tried["id"]], "Error")
    equal(sorted(tasks.listed("/task?status=New")), sorted(fresh), "New")
    equal(len(tasks.listed("/task?status=New&status=Error")), 6, "both")
    for query in ("tenant_id=1", "creator=5", "category=x", "type=again&tenant_id=1"):
        equal(tasks.listed("/task?" + query), [tried["id"]], query)
    equal(tasks.listed("/task?type=other"), [], "another type")
    seen, path = [], "/task?status=New&limit=2"
    while path:
        status, headers, page = tasks.request("GET", path)
        equal(status, 200, "page")
        check(len(page) <= 2, "more than were asked for")
        seen += [task["id"] for task in page]
        link = headers.get("Link")
        path = re.search(r"<([^>]*)>", link).group(1) if link else None
    equal(sorted(seen), sorted(fresh), "all pages")
    equal(tasks.request("GET", "/task?status=new")[0], 400, "the word is New")
    equal(tasks.request("GET", "/task?stauts=New")[0], 400, "an unknown filter")
    equal(tasks.request("GET", "/task?limit=501")[0], 400, "too many")


@case
def t03_agents_get_only_what_is_theirs_and_due(tasks):
    """T-03"""
    later = tasks.submit("a", start_time=after(3600))
    one = tasks.submit("a", tenant_id=1, creator=10, category="x")
    two = tasks.submit("b", tenant_id=2, creator=20, category="y")
    for wish in ({"tenant_id": 3}, {"type": "c"}, {"category": "z"}, {"creator": 30},
                 {"tenant_id": 1, "type": "b"}):
        equal(tasks.fetch(**wish), [], f"fetch {wish}")
    equal(tasks.fetch_one(creator=20)["id"], two["id"], "creator")
    equal(tasks.fetch_one(tenant_id="1", type=["a", "q"], category=["x"])["id"], one["id"], "all")
    equal(tasks.fetch(limit=500), [], "the other one's time has not come")
    equal(tasks.status(later["id"]), "New", "it waits")
    for wish in ({"limit": 0}, {"limit": 501}, {"limt": 1}, {"type": 7}):
        equal(tasks.request("POST", "/task/fetch", wish)[0], 400, f"{wish}")


@case
def t03_two_agents_never_get_the_same_task(tasks):
    """T-03: many agents at once, one by one and in batches"""
    total = 600
    tasks.call("POST", "/task", [{"type": "race"}] * total, 201)

    def agent(number):
        got, empty = [], 0
        while empty < 2:
            found = tasks.fetch(type="race", limit=1 if number % 2 else 7)
            empty = 0 if found else empty + 1
            got += [(task["id"], task["exec_id"]) for task in found]
        return got

    with ThreadPoolExecutor(8) as pool:
        got = [one for some in pool.map(agent, range(8)) for one in some]
    equal(len(got), total, "handed out")
    equal(len({task for task, _ in got}), total, "each once")
    equal(len({exec_id for _, exec_id in got}), total, "each under its own exec_id")


@case
def t04_fetching_sets_exec_id_and_deadline(tasks):
    """T-04"""
    tasks.metadata("slow", timeout=30, retry_strategy="none")
    tasks.submit("slow")
    before = utc_now()
    task = tasks.fetch_one(type="slow")
    equal(task["status"], "Executing", "status")
    check(task["exec_id"], "exec_id")
    ahead = time_of(task["executing_deadline"]) - before
    check(timedelta(minutes=30) <= ahead <= timedelta(minutes=30, seconds=PATIENCE),
          f"the deadline is {ahead} ahead")
    shown = tasks.get(task["id"])
    listed = tasks.call("GET", "/task?status=Executing")
    equal([one["exec_id"] for one in [shown, *listed]], [None, None],
          "only the agent that has fetched it is told: whoever has it may report")
    equal(shown["executing_deadline"], task["executing_deadline"], "shown")
    tasks.submit("unknown")
    default = tasks.fetch_one(type="unknown")
    ahead = time_of(default["executing_deadline"]) - utc_now()
    check(ahead <= timedelta(seconds=10), "a type without an entry has the server's default")


@case
def t05_past_its_deadline_a_task_goes_to_another_agent(tasks):
    """T-05"""
    # Shorter than the minutes of the document, so that the case can wait for it; long enough for
    # the calls of the second agent below.
    tasks.call("PUT", "/api/v1/types/quick", {"timeout": "2s", "retry": {
        "strategy": "fixed", "max_retries": 3, "interval": "1ms"}}, 201)
    made = tasks.submit("quick")
    first = tasks.fetch_one(type="quick")
    second = tasks.fetch_one(type="quick")
    equal(second["id"], made["id"], "the same task")
    check(second["exec_id"] != first["exec_id"], "under another exec_id")
    equal(second["error_count"], 1, "what was not reported has failed")
    for status in ("Success", "Error", "Failure"):
        tasks.report(first, status, expect=409)
    shown = tasks.get(made["id"])
    equal((shown["exec_id"], shown["error_count"]), (None, 1), "nothing has changed")
    equal(tasks.report(second, "Success", result=2)["result"], 2, "the second is heard")
    equal(tasks.report(second, "Success", result=2)["result"], 2, "also twice")
    tasks.report(second, "Success", expect=409, result=3)
    tasks.report(second, "Failure", expect=409)
    tasks.report(first, "Success", expect=409, result=1)
    equal(tasks.get(made["id"])["result"], 2, "and stays")


@case
def t06_types_are_kept_by_their_code(tasks):
    """T-06"""
    config = {"retry_strategy": "sequence", "retry_interval": 5, "retry_sequence": [1, 60, 3600],
              "max_error_count": 4, "timeout": 15, "need_manual": True,
              "callback": {"success": {"url": "http://127.0.0.1:9/ok", "method": "PUT"},
                           "error": {"url": "http://127.0.0.1:9/no", "method": "POST"},
                           "security": {"type": "aksk", "ak": "key", "sk": "s3cret"}}}
    made = tasks.call("POST", "/task-metadata", {"code": "mail", "name": "Mail",
                                                 "category": "bulk", "config": config}, 201)
    config["callback"]["security"]["sk"] = "***"
    equal((made["id"], made["code"], made["name"], made["category"]),
          ("mail", "mail", "Mail", "bulk"), "as sent")
    equal(made["config"], config, "config, without its secret")
    equal(tasks.call("GET", "/task-metadata/mail"), made, "read again")
    equal([one["code"] for one in tasks.call("GET", "/task-metadata")], ["mail"], "listed")
    tasks.metadata("mail", expect=409)
    made["config"]["timeout"] = 20
    changed = tasks.call("PUT", "/task-metadata/mail", made)
    equal(changed["config"], made["config"], "a copy of the answer, changed")
    _, _, v1 = tasks.request("GET", "/api/v1/types/mail")
    equal(v1["timeout"], "20m", "the same type")
    equal(tasks.submit("mail")["category"], "bulk", "a task has its type's category")
    equal(tasks.fetch_one(category="bulk")["type"], "mail", "and is fetched by it")
    tasks.call("DELETE", "/task-metadata/mail", expect=204)
    tasks.call("GET", "/task-metadata/mail", expect=404)
    tasks.call("PUT", "/task-metadata/mail", made, expect=404)
    status, _, answer = tasks.request("POST", "/task-metadata", {
        "code": "x y", "config": {"retry_strategy": "often", "timeout": "5"}})
    equal((status, faults(answer)), (400, ["/config/retry_strategy", "/config/timeout"]), "faults")


@case
def t07_retries_follow_their_strategy(tasks):
    """T-07: none, fixed_period, sequence whose last interval repeats; max_error_count"""
    tasks.metadata("none", retry_strategy="none", max_error_count=0)
    tasks.submit("none")
    failed = tasks.report(tasks.fetch_one(type="none"), "Error", error_info="no")
    equal((failed["status"], failed["error_count"]), ("Failure", 1), "none: not again")

    def waits(code):
        """Returns the delays of the task after each failure, and its last report."""
        made, found = tasks.submit(code), []
        while True:
            task = tasks.fetch_one(type=code)
            told = tasks.report(task, "Error", error_info="no")
            if told["status"] != "Error":
                return found, told
            delay = time_of(told["start_time"]) - time_of(told["update_date"])
            found.append(round(delay.total_seconds(), 3))
            equal(told["id"], made["id"], "the same task")

    tasks.metadata("fixed", retry_strategy="fixed_period", retry_interval=1, max_error_count=2)
    found, ended = waits("fixed")
    equal((found, ended["status"], ended["error_count"]), ([1, 1], "Failure", 3), "fixed_period")
    tasks.metadata("steps", retry_strategy="sequence", retry_sequence=[2, 1], max_error_count=3)
    found, ended = waits("steps")
    equal((found, ended["status"], ended["error_count"]), ([2, 1, 1], "Failure", 4), "sequence")


@case
def t08_exhausted_is_failure_or_waits_for_a_person(tasks):
    """T-08: more failures than max_error_count"""
    for code, manual, word in (("auto", False, "Failure"), ("manual", True, "Pending")):
        tasks.metadata(code, retry_strategy="fixed_period", retry_interval=1, max_error_count=1,
                       need_manual=manual)
        tasks.submit(code)
        first = tasks.report(tasks.fetch_one(type=code), "Error", error_info="one")
        equal((first["status"], first["error_count"]), ("Error", 1), "one is not too many")
        second = tasks.report(tasks.fetch_one(type=code), "Error", error_info="two")
        equal((second["status"], second["error_count"], second["error_info"]), (word, 2, "two"),
              code)
        equal(tasks.fetch(type=code), [], "no agent gets it any more")


@case
def t09_a_person_closes_what_is_pending(tasks):
    """T-09"""
    tasks.metadata("manual", retry_strategy="none", need_manual=True)
    tasks.submit("manual")
    task = tasks.fetch_one(type="manual")
    path = f"/task/{task['id']}/process"
    status, _, answer = tasks.request("POST", path, {"remark": "too early"})
    equal(status, 409, f"it is not pending {answer}")
    tasks.report(task, "Error", error_info="no")
    closed = tasks.call("POST", path, {"remark": "由人工处理"})
    equal((closed["status"], closed["remark"]), ("ManuallyProcessed", "由人工处理"), "closed")
    equal(tasks.call("POST", path, {"remark": "由人工处理"}), closed, "the same again")
    equal(tasks.request("POST", path, {"remark": "other"})[0], 409, "once only")
    equal(tasks.request("POST", path, {"remrk": "x"})[0], 400, "an unknown member")
    events = tasks.call("GET", f"/api/v1/audit?resource_id={task['id']}")["items"]
    equal([(one["action"], one["data"]["remark"]) for one in events],
          [("resolved", "由人工处理")], "who did it is kept")


@case
def t12_what_is_done_is_history(tasks):
    """T-12"""
    tasks.metadata("manual", retry_strategy="none", need_manual=True)
    done = tasks.submit("work")
    tasks.report(tasks.fetch_one(type="work"), "Success", result={"n": 1})
    closed = tasks.submit("manual")
    tasks.report(tasks.fetch_one(type="manual"), "Error")
    failed = tasks.submit("work")
    tasks.report(tasks.fetch_one(type="work"), "Failure", error_info="no")
    waiting = tasks.submit("work")
    equal(tasks.listed("/task-his"), [done["id"]], "history")
    tasks.call("POST", f"/task/{closed['id']}/process", {"remark": "ok"})
    equal(sorted(tasks.listed("/task-his")), sorted([done["id"], closed["id"]]), "and what a "
          "person has closed")
    equal(sorted(tasks.listed("/task")), sorted([failed["id"], waiting["id"]]), "the rest")
    equal(tasks.listed("/task-his?status=Success&type=work"), [done["id"]], "filtered")
    equal(tasks.get(done["id"])["result"], {"n": 1}, "still shown by its id")
    equal(sorted(tasks.call("GET", "/task-his")[0]), sorted(MEMBERS), "with the same members")
    tasks.server.kill()
    tasks.server.start()
    equal(sorted(tasks.listed("/task-his")), sorted([done["id"], closed["id"]]), "after a kill")


@case
def hostile_reports_change_nothing(tasks):
    """T-05: wrong exec_id, another task's exec_id, a huge result, wrong words"""
    tasks.metadata("work", timeout=30)
    one, two = tasks.submit(), tasks.submit()
    held = {task["id"]: task for task in tasks.fetch(type="work", limit=2)}
    path = f"/task/{one['id']}/report"
    for exec_id in ("", "x", held[two["id"]]["exec_id"]):
        equal(tasks.request("POST", path, {"exec_id": exec_id, "status": "Success"})[0], 409,
              f"exec_id {exec_id!r}")
    equal(tasks.request("POST", path, {"exec_id": "x" * 1000, "status": "Success"})[0], 400, "long")
    good = held[one["id"]]["exec_id"]
    for body in ({"status": "Success"}, {"exec_id": good}, {"exec_id": good, "status": "New"},
                 {"exec_id": good, "status": "Success", "error_info": "but"},
                 {"exec_id": good, "status": "Error", "result": 1}):
        equal(tasks.request("POST", path, body)[0], 400, f"{body}")
    huge = {"exec_id": good, "status": "Success", "result": "x" * 10_000_000}
    try:
        status = tasks.request("POST", path, huge)[0]
        check(status in (400, 413), f"10 MB: {status}")
    except OSError:
        pass  # the server did not read the whole body
    equal(tasks.status(one["id"]), "Executing", "as it was")
    equal(tasks.report(held[one["id"]], "Success")["status"], "Success", "and goes on")


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, _: Tasks(server))
