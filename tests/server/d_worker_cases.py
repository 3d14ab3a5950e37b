#!/usr/bin/env python3
"""Workers of document D, over its own paths: registration, heartbeats, silence, restarts. The
workers are scripted. In cases of silence they count as down after a second instead of ninety.

usage: d_worker_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
from kit.agent_client import CLAIM, tell
from kit.cases import arguments, case
from kit.checks import check, equal
from kit.dispatcher_client import Dispatcher
from kit.places import run_on_store
from kit.task_client import faults
from kit.times import time_of
from kit.waiting import wait_for

WORKER = ["id", "status", "host", "types", "load", "slots", "labels", "version", "incarnation",
          "drain", "heartbeat_interval", "registered_at", "last_heartbeat_at"]
OTHER = "01928374-0000-7000-8000-000000000001"
SHORT = {"KSANA_WORKER_TIMEOUT": "1s", "KSANA_WORKER_HEARTBEAT": "300ms"}


class Workers(Dispatcher):
    """The dialect of document D, and workers that register."""

    def register(self, worker_id="w1", **more):
        return self.call("POST", "/api/workers", {"id": worker_id, "host": "h", **more}, 201)

    def beat(self, worker, expect=200, **more):
        return self.call("POST", f"/api/workers/{worker['id']}/heartbeat", more, expect)

    def show(self, worker):
        return self.call("GET", f"/api/workers/{worker['id']}")

    def listed(self, query=""):
        found = self.call("GET", "/api/workers" + query)
        equal(found["total"], len(found["items"]), "total")
        return [one["id"] for one in found["items"]]

    def take_as(self, worker, **wish):
        return self.take(worker["id"], incarnation=worker["incarnation"], **wish)

    def claim_as(self, worker, **wish):
        return self.claim(worker["id"], incarnation=worker["incarnation"], **wish)

    def await_status(self, worker, status):
        return wait_for(lambda: self.show(worker), lambda one: one["status"] == status,
                        f"{worker['id']} to be {status}")


@case
def d05_a_worker_registers_and_is_alive(api):
    """D-05: id, host and types → ALIVE; heartbeats with the load"""
    status, headers, made = api.request("POST", "/api/workers", {
        "id": "w1", "host": "10.0.0.7", "types": ["mail", "report"], "slots": 4})
    equal((status, headers["Location"]), (201, "/api/workers/w1"), f"{made}")
    equal(sorted(made), sorted(WORKER), "members")
    equal((made["status"], made["host"], made["types"], made["slots"], made["load"]),
          ("ALIVE", "10.0.0.7", ["mail", "report"], 4, 0), "as sent")
    equal(made["heartbeat_interval"], 30, "how often it is to be heard of")
    beaten = api.beat(made, load=3)
    equal((beaten["status"], beaten["load"], beaten["drain"]), ("ALIVE", 3, False), "load")
    check(time_of(beaten["last_heartbeat_at"]) >= time_of(made["last_heartbeat_at"]), "time")
    equal(api.beat(made, load=0.5)["load"], 2, "half of its slots")
    equal(api.beat(made)["load"], 2, "no load: as before")
    api.register("w2")
    equal(api.listed(), ["w1", "w2"], "listed")
    equal([one["id"] for one in api.call("GET", "/api/workers?page=2&size=1")["items"]], ["w2"],
          "page 2")
    equal(api.listed("?status=DOWN"), [], "none is down")
    v1 = api.call("GET", "/api/v1/workers/w1")
    equal((v1["name"], v1["state"], v1["kinds"], v1["busy"]), ("w1", "alive", ["queue"], 2),
          "the same worker in /api/v1")


@case
def d05_bad_registrations_are_refused(api):
    """D-05, D-07: with every fault"""
    status, _, answer = api.request("POST", "/api/workers", {
        "id": "a b", "host": 7, "types": ["x y"], "slots": 0, "incarnation": "x", "hots": 1})
    equal((status, faults(answer)), (400, ["/host", "/hots", "/id", "/incarnation", "/slots",
                                           "/types/0"]), f"{answer}")
    equal(api.request("POST", "/api/workers", {})[0], 400, "no id")
    equal(api.listed(), [], "nothing is stored")
    worker = api.register()
    for body in ({"load": -1}, {"load": 1.5}, {"load": "high"}, {"laod": 1}):
        equal(api.request("POST", "/api/workers/w1/heartbeat", body)[0], 400, f"{body}")
    equal(api.request("GET", "/api/workers?status=alive")[0], 400, "the word is ALIVE")
    for method, path in (("GET", ""), ("POST", "/heartbeat"), ("DELETE", "")):
        equal(api.request(method, f"/api/workers/none{path}")[0], 404, f"{method} {path}")
    api.claim("agent")
    equal(api.request("GET", "/api/workers/agent")[0], 404, "an agent has not registered")
    equal(api.listed(), [worker["id"]], "nor is it listed")


@case(silence=True)
def d05_a_silent_worker_is_down(api):
    """D-05: DOWN after worker_timeout without a heartbeat, ALIVE again with one"""
    worker = api.register()
    down = api.await_status(worker, "DOWN")
    equal(down["last_heartbeat_at"], worker["last_heartbeat_at"], "it was not heard of")
    equal(api.listed("?status=DOWN"), ["w1"], "listed")
    beaten = api.beat(worker, load=0)
    equal((beaten["status"], beaten["heartbeat_interval"]), ("ALIVE", 0.3), "it is heard of again")
    equal(api.show(worker)["incarnation"], worker["incarnation"], "the same start of it")


@case
def d05_a_worker_finishes_its_work_and_leaves(api):
    """D-05: deregister, finish what runs, leave"""
    worker, task = api.register(), api.create()
    made, other = api.trigger(task["id"]), api.trigger(task["id"])
    run = api.take_as(worker)
    status, _, leaving = api.request("DELETE", "/api/workers/w1")
    equal((status, leaving["status"], leaving["drain"]), (202, "DRAINING", True), "still at work")
    equal([one["run_id"] for one in leaving["running"]], [made["run_id"]], "what it has")
    equal(api.claim_as(worker), [], "it gets no more work")
    equal(api.beat(worker, load=1)["status"], "DRAINING", "a heartbeat does not change that")
    tell(api, run, "succeed", result="done")
    equal(api.execution(task["id"], made["id"])["result"], "done", "its report is taken")
    api.call("DELETE", "/api/workers/w1", expect=204)
    equal((api.listed(), api.listed("?status=GONE")), ([], ["w1"]), "gone")
    api.beat(worker, expect=404)
    api.call("DELETE", "/api/workers/w1", expect=404)
    equal(api.take("another")["run_id"], other["run_id"], "the rest is for others")


@case(silence=True)
def d06_the_work_of_a_worker_that_is_down_goes_to_another(api):
    """D-06: with its retries, and without the wait of a failure (D-08)"""
    lost = api.register("lost")
    task = api.create(max_retries=1, base_interval=3600)
    made = api.trigger(task["id"])
    run = api.take_as(lost, lease="1h")
    equal(api.execution(task["id"], made["id"])["worker_id"], "lost", "worker_id")
    other = api.take("other", wait="10s")
    equal(other["run_id"], made["run_id"], "the same run")
    equal(api.show(lost)["status"], "DOWN", "its worker was not heard of")
    first = api.execution(task["id"], made["id"])
    equal((first["status"], first["worker_id"]), ("FAILED", "lost"), "the execution is over")
    check(time_of(first["end_time"]) >= time_of(lost["last_heartbeat_at"]), "its end")
    tell(api, run, "succeed", expect=409, result="late")
    tell(api, other, "succeed", result="other")
    second = api.execution(task["id"], made["run_id"] + ".1")
    equal((second["status"], second["worker_id"], second["result"], second["retry_count"]),
          ("COMPLETED", "other", "other", 1), "the retry")


@case
def d06_a_worker_that_starts_again_has_lost_its_work(api):
    """D-05, D-06: the same id registers a second time"""
    old, task = api.register(), api.create(max_retries=1, base_interval=3600)
    made = api.trigger(task["id"])
    run = api.take_as(old, lease="1h")
    new = api.register()
    check(new["incarnation"] != old["incarnation"], "another start")
    equal(api.execution(task["id"], made["id"])["status"], "FAILED", "lost at once")
    again = api.take_as(new)
    equal(again["run_id"], made["run_id"], "the new one gets it")
    tell(api, run, "succeed", expect=409)
    api.beat(old, expect=409, incarnation=old["incarnation"])
    equal(api.request("DELETE", f"/api/workers/w1?incarnation={old['incarnation']}")[0], 409,
          "the old one cannot take the new one off")
    equal(api.request("POST", CLAIM, {"worker": "w1", "incarnation": old["incarnation"]})[0], 409,
          "nor claim")
    tell(api, again, "succeed")
    same = api.register("w3", incarnation=OTHER)
    equal(api.register("w3", incarnation=OTHER)["registered_at"], same["registered_at"],
          "the same start sent twice")


@case
def d18_a_worker_gets_the_types_that_it_registered(api):
    """D-18: what suits it; idle workers share the work"""
    mail, resize = api.create(type="mail"), api.create(type="resize")
    for task in (resize, mail, resize):
        api.trigger(task["id"])
    mailer = api.register("mailer", types=["mail"], slots=5)
    equal([run["type"] for run in api.claim_as(mailer, max=5)], ["mail"], "only what it serves")
    any_type = api.register("any", slots=5)
    equal([run["type"] for run in api.claim_as(any_type, max=5)], ["resize"] * 2, "types: any")
    shown = api.show(any_type)
    equal(sorted(one["task_id"] for one in shown["running"]), [resize["id"]] * 2, "what it has")
    equal(shown["running"][0]["type"], "resize", "its type")


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, _: Workers(server),
                 environment=lambda one: SHORT if one.options.get("silence") else None)
