#!/usr/bin/env python3
"""Audit, deletion of runs, backfills, the stream of events and settings of the built server.

usage: history_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import json
import socket
import time
from datetime import datetime, timedelta, timezone

from kit.api_client import run_api_cases
from kit.cases import case
from kit.checks import check, equal
from kit.waiting import PATIENCE, wait_for


class Events:
    """A reader of server-sent events that shares no code with the server."""

    def __init__(self, server, query="", last_id=None, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", server.port))
        header = f"Last-Event-ID: {last_id}\r\n" if last_id is not None else ""
        self.socket.sendall(f"GET /api/v1/events{query} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n"
                            .encode())
        self.file = self.socket.makefile("rb")
        self.head = []
        while (line := self.file.readline().decode().strip()):
            self.head.append(line)
        self.text, self.last_id, self.ended = "", None, False

    def more(self):
        """One chunk; False at the end."""
        size = int(self.file.readline().strip() or b"0", 16)
        self.text += self.file.read(size).decode()
        self.file.readline()
        self.ended = size == 0
        return not self.ended

    def next(self):
        """Name and data of the next event, or None at the end."""
        while True:
            while "\n\n" not in self.text:
                if not self.more():
                    return None
            block, self.text = self.text.split("\n\n", 1)
            fields = dict(line.split(": ", 1) for line in block.split("\n")
                          if not line.startswith(":"))
            self.last_id = fields.get("id", self.last_id)
            if "data" in fields:
                return fields["event"], json.loads(fields["data"])

    def until(self, wanted):
        """All events up to and with the first of this name."""
        found = []
        while True:
            event = self.next()
            check(event is not None, f"the stream ended before {wanted}: {found}")
            found.append(event)
            if event[0] == wanted:
                return found

    def close(self):
        self.file.close()
        self.socket.close()


def past_hours(count):
    """The members `from` and `to`, with so many full hours between them."""
    to = datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
    return {"from": (to - timedelta(hours=count)).isoformat(), "to": to.isoformat()}


def hourly(api, url, **more):
    return api.call("POST", "/api/v1/jobs", {
        "id": "j", "name": "j", "http": {"url": url}, "retry": {"max_retries": 0},
        "schedule": {"kind": "cron", "cron": "0 * * * *"}, **more}, 201)


def await_backfill(api, backfill_id, is_so, patience=PATIENCE):
    return wait_for(lambda: api.call("GET", f"/api/v1/backfills/{backfill_id}"), is_so,
                    "progress of the backfill", patience)


@case
def everything_people_do_is_audited(api, server, target):
    api.create("j", target.url + "/ok/j")
    api.call("PATCH", "/api/v1/jobs/j", {"owner": "ada"})
    api.call("POST", "/api/v1/jobs/j/pause", {"reason": "lunch"})
    api.call("POST", "/api/v1/jobs/resume", {"all": True})
    run = api.call("POST", "/api/v1/jobs/j/run", expect=202)["id"]
    api.await_state(run, "succeeded")
    api.call("DELETE", f"/api/v1/runs/{run}", expect=204)
    server.call("DELETE", "/jobs/j", expect=204)
    api.call("POST", "/api/v1/jobs/j/pause", expect=404)
    server.kill()
    server.start()
    events = api.walk("/api/v1/audit?limit=2")
    equal([(one["resource_type"], one["action"]) for one in events],
          [("job", "deleted"), ("run", "deleted"), ("job", "run_now"), ("job", "resumed"),
           ("job", "paused"), ("job", "changed"), ("job", "created")], "the newest first")
    for one in events:
        equal((one["user"], one["client_ip"]), ("anyone", "127.0.0.1"), "who")
    equal(events[0]["method"], "DELETE /jobs/j", "the other dialect, too")
    equal(events[4]["data"]["reason"], "lunch", "why")
    equal(events[5]["data"]["changed"], ["owner"], "what")
    equal(events[1]["resource_id"], run, "which")
    listed = api.call("GET", "/api/v1/audit?action=paused&resource_id=j&user=anyone")["items"]
    equal(len(listed), 1, "filtered")


@case
def a_deleted_fire_stays_in_the_ledger(api, _, target):
    api.create("j", target.url + "/ok/j", schedule={"kind": "every", "every": "1s"})
    target.await_calls("/ok/j")
    api.call("POST", "/api/v1/jobs/j/pause")
    run = api.walk("/api/v1/jobs/j/runs?sort=id")[0]
    api.await_state(run["id"], "succeeded")
    api.call("DELETE", f"/api/v1/runs/{run['id']}", expect=204)
    api.call("DELETE", f"/api/v1/runs/{run['id']}", expect=404)
    deleted = [one for one in api.walk("/api/v1/jobs/j/ledger") if one["fate"] == "deleted"]
    equal([(one["count"], one["first"]) for one in deleted], [(1, run["nominal_at"])], "ledger")


@case
def runs_that_ended_long_ago_are_purged(api, _, target):
    api.create("j", target.url + "/ok/purge", schedule={"kind": "every", "every": "1h"})
    runs = [api.call("POST", "/api/v1/jobs/j/run", expect=202)["id"] for _ in range(3)]
    for run in runs:
        over = api.await_state(run, "succeeded")
    purge = {"finished_before": over["finished_at"]}
    dry = api.call("POST", "/api/v1/runs/purge", {**purge, "dry_run": True})
    check(dry["runs"] < 3 and dry["dry_run"] and not dry["more"], f"dry {dry}")
    equal(api.call("POST", "/api/v1/runs/purge", {**purge, "states": ["failed"]})["runs"], 0,
          "of another state")
    later = {"finished_before": "2100-01-01T00:00:00Z"}
    equal(api.call("POST", "/api/v1/runs/purge", later),
          {"runs": 3, "more": False, "dry_run": False}, "all")
    equal(api.walk("/api/v1/runs"), [], "runs")
    events = api.walk("/api/v1/audit?action=purged")
    equal([event["data"]["finished_before"] for event in events], [later["finished_before"]],
          "audit")
    api.call("POST", "/api/v1/runs/purge", {}, expect=400)
    api.call("POST", "/api/v1/runs/purge", {**later, "states": ["running"]}, expect=400)


@case
def a_run_under_way_is_not_deleted(api, _, target):
    api.create("j", target.url + "/hang/delete", timeout="1h")
    run = api.call("POST", "/api/v1/jobs/j/run", expect=202)["id"]
    target.await_calls("/hang/delete")
    api.call("DELETE", f"/api/v1/runs/{run}", expect=409)
    target.released.set()
    api.await_state(run, "succeeded")
    api.call("DELETE", f"/api/v1/runs/{run}", expect=204)


@case
def a_backfill_is_shown_first_and_then_done(api, _, target):
    hourly(api, target.url + "/ok/fill?at={{scheduled_at}}")
    dry = api.call("POST", "/api/v1/jobs/j/backfill", past_hours(5))
    equal((dry["count"], dry["already_there"], len(dry["fires"])), (5, 0, 5), "dry")
    equal(api.walk("/api/v1/runs"), [], "nothing was done")
    made = api.call("POST", "/api/v1/jobs/j/backfill",
                    {**past_hours(5), "dry_run": False, "per_minute": 6000}, 202)
    over = await_backfill(api, made["id"], lambda one: one["state"] == "finished")
    equal((over["submitted"], over["succeeded"], over["failed"], over["skipped"]), (5, 5, 0, 0),
          "counts")
    runs = api.walk(f"/api/v1/runs?parent={made['id']}&sort=id")
    equal([run["nominal_at"] for run in runs], dry["fires"], "the fires of the dry run")
    equal({run["trigger"] for run in runs}, {"backfill"}, "trigger")
    equal(api.call("POST", "/api/v1/jobs/j/backfill", past_hours(7))["already_there"], 5, "there")
    api.call("POST", f"/api/v1/backfills/{made['id']}/cancel", expect=409)
    equal([one["id"] for one in api.walk("/api/v1/backfills")], [made["id"]], "the list")


@case
def a_backfill_outlives_the_server(api, server, target):
    hourly(api, target.url + "/ok/fill")
    made = api.call("POST", "/api/v1/jobs/j/backfill",
                    {**past_hours(12), "dry_run": False, "per_minute": 240}, 202)
    await_backfill(api, made["id"], lambda one: one["submitted"] >= 2)
    server.kill()
    server.start()
    # In a store that servers can share, a run is taken back when its lease of 30 s is over.
    over = await_backfill(api, made["id"], lambda one: one["state"] == "finished", 3 * PATIENCE)
    equal(over["submitted"] + over["skipped"], 12, "all")
    runs = api.walk(f"/api/v1/runs?parent={made['id']}")
    equal(len({run["nominal_at"] for run in runs}), 12, "each fire once")
    equal(len(runs), 12, "no more")


@case
def a_backfill_is_cancelled_as_a_group(api, _, target):
    hourly(api, target.url + "/hang/fill", timeout="1h")
    made = api.call("POST", "/api/v1/jobs/j/backfill",
                    {**past_hours(50), "dry_run": False, "per_minute": 6000, "overlap": "allow"},
                    202)
    target.await_calls("/hang/fill", 16)    # all slots
    await_backfill(api, made["id"], lambda one: one["submitted"] == 50)
    equal(api.call("POST", f"/api/v1/backfills/{made['id']}/cancel")["state"], "cancelled", "it")
    cancelled = api.walk(f"/api/v1/runs?parent={made['id']}&state=cancelled")
    equal(len(cancelled), 34, "those that had not started")
    target.released.set()
    api.call("POST", f"/api/v1/backfills/{made['id']}/cancel")


@case
def events_go_on_after_an_id(api, server, target):
    api.create("a", target.url + "/ok/a")
    first = Events(server)
    check("Content-Type: text/event-stream" in first.head, first.head)
    check(any(line.startswith("Ksana-Version: ") for line in first.head), first.head)
    api.create("b", target.url + "/ok/b")
    name, data = first.next()
    equal((name, data["resource_id"], data["source"]), ("job.created", "b", "audit"), "the event")
    run = api.call("POST", "/api/v1/jobs/b/run", expect=202)["id"]
    told = first.until("run.succeeded")
    equal([event[0] for event in told], ["job.run_now", "run.succeeded"], "in order")
    equal(told[1][1]["run"]["id"], run, "the run")
    last = first.last_id
    first.close()
    api.call("POST", "/api/v1/jobs/a/pause", {"reason": "x"})
    server.kill()
    server.start()
    api.call("POST", "/api/v1/jobs/a/resume")
    again = Events(server, last_id=last)
    equal([event[0] for event in again.until("job.resumed")], ["job.paused", "job.resumed"],
          "nothing lost, nothing twice")
    of_b = Events(server, "?after=0&job_id=b&types=job")
    equal([event[0] for event in of_b.until("job.run_now")], ["job.created", "job.run_now"], "of b")
    unknown = Events(server, last_id=999999)
    equal(unknown.next()[0], "gap", "an unknown id")


@case
def a_stop_ends_streams_in_order(api, server, _):
    streams = [Events(server) for _ in range(20)]
    api.create("j")
    for stream in streams:
        equal(stream.next()[0], "job.created", "told")
    began = time.monotonic()
    equal(server.stop(), 0, "exit code")
    check(time.monotonic() - began < 4, "streams held the stop up")
    for stream in streams:
        equal(stream.next(), None, "the end")
    server.start()


@case
def a_reader_that_sleeps_loses_no_audit_event(api, server, _):
    slow = Events(server, receive_buffer=2048)
    quick = Events(server)
    for number in range(300):
        api.create(f"j{number}")
    wanted = [f"j{number}" for number in range(300)]
    equal([quick.next()[1]["resource_id"] for _ in wanted], wanted, "quick")
    equal([slow.next()[1]["resource_id"] for _ in wanted], wanted, "slow")


@case
def settings_are_told_with_their_source(api, server, _):
    shown = {one["key"]: one for one in api.call("GET", "/api/v1/settings")}
    equal((shown["workers"]["value"], shown["workers"]["source"]), ("16", "WORKERS"), "workers")
    equal((shown["retention"]["value"], shown["retention"]["source"]), ("720h", "default"), "it")
    check("://" not in shown["store"]["value"] or ":secret@" not in shown["store"]["value"], "it")
    equal(shown["store"]["source"], "KSANA_STORE", "store")
    for method in ("PUT", "POST", "DELETE"):
        api.call(method, "/api/v1/settings", expect=405)
    api.create("x", name="one of two")
    api.create("y", name="two of two")
    equal([one["id"] for one in api.walk("/api/v1/jobs?name=two+of+two")], ["y"], "by name")
    check(server.port, "port")


if __name__ == "__main__":
    run_api_cases()
