#!/usr/bin/env python3
"""The admin dialect of document N (N-19), on the built server.

usage: admin_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
from kit.cases import arguments, case
from kit.checks import check, equal
from kit.places import run_on_store
from kit.task_client import faults
from kit.waiting import wait_for, wait_until

HOUR = {"kind": "every", "every": "1h"}
FAR = 253402300799999       # the last millisecond of the year 9999


def job(server, job_id, url, **more):
    return server.create(id=job_id, http={"method": "GET", "url": url},
                         **{"schedule": HOUR, "max_retries": 0, "retry_backoff": "1s", **more})


def shown(server, job_id):
    return server.call("GET", f"/admin/job/get?id={job_id}")


def page(server, query=""):
    return server.call("GET", f"/admin/job-log/page{query}")


def run(server, job_id, runs):
    """Triggers the job and returns it once `runs` of its runs have ended."""
    equal(server.call("POST", f"/admin/job/trigger?id={job_id}"),
          {"id": job_id, "triggered": True}, "trigger")
    return wait_for(lambda: shown(server, job_id), lambda now: now["runCount"] == runs,
                    f"{runs} runs of {job_id}")


@case
def n19_jobs_are_listed_triggered_and_disabled(server, target):
    """N-15, N-19"""
    equal(server.call("GET", "/admin/job/list"), [], "no jobs yet")
    job(server, "good", target.url + "/ok/good", schedule={"kind": "cron", "cron": "0 3 * * *"})
    job(server, "bad", target.url + "/status/404")
    equal([(one["id"], one["schedule"]) for one in server.call("GET", "/admin/job/list")],
          [("bad", {"fixedRate": 3600000, "initialDelay": 0}), ("good", {"cron": "0 3 * * *"})],
          "list")
    good = shown(server, "good")
    equal(sorted(good), sorted(["id", "enabled", "schedule", "mode", "lastFireTime",
                                "lastDuration", "lastResult", "nextFireTime", "runCount",
                                "failCount"]), "members")
    equal((good["mode"], good["lastFireTime"], good["lastResult"]), ("SINGLE_NODE", None, None),
          "before the first run")
    equal(good["nextFireTime"] % 60000, 0, "a cron job fires on the minute")
    off = server.call("PUT", "/admin/job/update-status", {"id": "good", "enabled": False})
    equal((off["enabled"], off["nextFireTime"]), (False, None), "disabled")
    good = run(server, "good", 1)
    equal((good["lastResult"], good["failCount"], good["enabled"]), ("SUCCESS", 0, False),
          "triggered while it is disabled")
    check(good["lastDuration"] >= 0 and good["lastFireTime"] > 1.7e12, f"{good}")
    on = server.call("PUT", "/admin/job/update-status?id=good&enabled=true")
    check(on["enabled"] and on["nextFireTime"] is not None, "enabled again")
    bad = run(server, "bad", 1)
    equal((bad["lastResult"], bad["failCount"]), ("FAILED", 1), "a failure")
    server.kill()
    server.start()
    equal(shown(server, "bad"), bad, "after a restart")


@case
def n19_the_log_is_paged_read_and_cleaned(server, target):
    """N-19"""
    job(server, "good", target.url + "/ok/good")
    job(server, "bad", target.url + "/status/404")
    for number in range(1, 4):
        run(server, "good", number)
    run(server, "bad", 1)
    first = page(server, "?page=1&size=3")
    equal((first["total"], first["relation"], first["page"], first["size"]), (4, "exact", 1, 3),
          "the first page")
    second = page(server, "?page=2&size=3")
    entries = first["list"] + second["list"]
    equal([entry["jobId"] for entry in entries], ["bad", "good", "good", "good"], "newest first")
    equal([entry["status"] for entry in entries], [1, 0, 0, 0], "status")
    check(entries[0]["message"] and entries[1]["message"] is None, "message")
    ends = [entry["endTime"] for entry in entries]
    equal(ends, sorted(ends, reverse=True), "order")
    equal([entry["id"] for entry in page(server, "?status=1")["list"]], [entries[0]["id"]],
          "failures")
    equal(page(server, f"?jobId=good&startTime=0&endTime={FAR}")["total"], 3, "of a job")
    equal(page(server, "?endTime=1")["list"], [], "of another time")
    entry = server.call("GET", f"/admin/job-log/get?id={entries[1]['id']}")
    equal({key: entry[key] for key in entries[1]}, entries[1], "as listed")
    check("result" in entry and "log" in entry, "with result and log")
    equal(server.call("DELETE", "/admin/job-log/clean?before=1"), {"deleted": 0, "more": False},
          "nothing is that old")
    equal(server.call("DELETE", "/admin/job-log/clean?jobId=good"), {"deleted": 3, "more": False},
          "of a job")
    server.call("GET", f"/admin/job-log/get?id={entries[1]['id']}", expect=404)
    deleted = server.call("GET", "/api/v1/audit?action=deleted&resource_type=run")["items"]
    equal(len(deleted), 3, "in the audit")
    equal(server.call("DELETE", "/admin/job-log/clean"), {"deleted": 1, "more": False}, "the rest")
    equal(page(server)["total"], 0, "nothing is left")


@case
def n14_a_trigger_is_skipped_while_the_job_runs(server, target):
    """N-14, N-19"""
    job(server, "slow", target.url + "/hang/slow")
    server.call("POST", "/admin/job/trigger?id=slow", {"who": "me"})
    target.await_calls("/hang/slow")
    server.call("POST", "/admin/job/trigger?id=slow")
    skipped, = wait_until(lambda: page(server, "?jobId=slow")["list"], "the skipped run")
    equal((skipped["status"], skipped["outcome"], skipped["duration"]), (2, "SKIPPED", None),
          "skipped")
    target.released.set()
    wait_until(lambda: page(server, "?status=0")["list"], "the first run")
    equal(len(target.of("/hang/slow")), 1, "called once")


@case
def n19_bad_requests_are_refused(server, target):
    """N-19"""
    job(server, "good", target.url + "/ok/good")
    for method, path, body, status, wanted in (
            ("GET", "/admin/job/get", None, 400, ["/query/id"]),
            ("GET", "/admin/job/get?id=none", None, 404, None),
            ("POST", "/admin/job/trigger?id=good", {"day": 1}, 400, ["/day"]),
            ("PUT", "/admin/job/update-status", {"id": "good"}, 400, ["/enabled"]),
            ("GET", "/admin/job-log/page?page=0&siez=1", None, 400, ["/query/page", "/query/siez"]),
            ("GET", "/admin/job-log/page?page=1000&size=100", None, 400, ["/query/page"]),
            ("GET", "/admin/job-log/get?id=none", None, 404, None),
            ("DELETE", "/admin/job-log/clean?before=now", None, 400, ["/query/before"])):
        answered, headers, answer = server.request(method, path, body)
        equal(answered, status, f"{method} {path} {answer}")
        equal(headers["Content-Type"], "application/problem+json", "type")
        if wanted:
            equal(faults(answer), wanted, f"{method} {path}")
    equal(page(server)["total"], 0, "nothing ran")


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, target: (server, target))
