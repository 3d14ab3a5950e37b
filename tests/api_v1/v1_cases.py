#!/usr/bin/env python3
"""/api/v1 of the built server. Every answer is compared with the description.

usage: v1_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from kit.api_client import HOUR, Api, run_api_cases
from kit.cases import case
from kit.checks import Failure, check, equal
from kit.contract import Breach

ABSENT_RUN = "/api/v1/runs/0190b6a5-7c1e-7d2a-8f3b-123456789abc"


@case
def a_job_lives_and_goes(api, _, target):
    made = api.create("j", target.url + "/ok/j", labels={"team": "a"}, retry={"max_retries": 0})
    status, headers, shown = api.send("GET", "/api/v1/jobs/j")
    equal((status, shown), (200, made), "the job")
    tag = headers["ETag"]
    equal(api.send("GET", "/api/v1/jobs/j", If_None_Match=tag)[0], 304, "not modified")
    api.call("PUT", "/api/v1/jobs/j", shown, 428)
    changed = api.call("PUT", "/api/v1/jobs/j", {**shown, "owner": "ada"}, If_Match=tag)
    equal((changed["owner"], changed["version"]), ("ada", 2), "replaced")
    api.call("PATCH", "/api/v1/jobs/j", {"owner": "bob"}, 412, If_Match=tag)
    patched = api.call("PATCH", "/api/v1/jobs/j", {"owner": None, "priority": 1}, If_Match='"2"',
                       Content_Type="application/merge-patch+json")
    equal((patched["owner"], patched["priority"], patched["labels"]), ("", 1, {"team": "a"}), "it")
    fires = api.call("GET", "/api/v1/jobs/j/fires?count=5")["items"]
    equal(len(fires), 5, "fires")
    equal(fires[0]["nominal_at"], patched["next_run_at"], "the next")
    api.call("DELETE", "/api/v1/jobs/j", expect=412, If_Match=tag)
    api.call("DELETE", "/api/v1/jobs/j", expect=204)
    api.call("GET", "/api/v1/jobs/j", expect=404)


@case
def ids_that_no_path_can_have_are_refused(api, server, target):
    """Clients take "." and ".." out of a path: nobody could show or delete their bearer."""
    http = {"url": target.url + "/ok"}
    for name in (".", ".."):
        refused = [
            ("/api/v1/jobs", {"id": name, "name": "n", "schedule": HOUR, "http": http}, "/id"),
            ("/api/v1/jobs", {"id": "j", "name": "n", "schedule": HOUR, "http": http,
                              "group": name}, "/group"),
            ("/jobs", {"id": name, "name": "n", "schedule": HOUR, "http": http}, "/id"),
            ("/task-metadata", {"code": name, "name": "n"}, "/code"),
            ("/api/v1/runs", {"type": name}, "/type"),
            ("/api/v1/runs", {"type": "t", "tenant": name}, "/tenant"),
            ("/api/v1/agent/claim", {"worker": name}, "/worker"),
            ("/api/v1/workers", {"name": name, "incarnation": ABSENT_RUN[-36:]}, "/name")]
        for path, body, place in refused:
            status, _, problem = server.request("POST", path, body)
            equal(status, 400, f"{path} {body}")
            check(place in str(problem) and "neither . nor .." in str(problem), problem)
    equal(api.call("GET", "/api/v1/jobs")["items"], [], "no job")


@case
def both_dialects_speak_of_the_same_jobs(api, server, target):
    server.create(id="k", schedule=HOUR, http={"url": target.url + "/ok/k"})
    equal(api.call("GET", "/api/v1/jobs/k")["http"]["url"], target.url + "/ok/k", "url")
    api.call("POST", "/api/v1/jobs/k/pause", {"reason": "x"})
    equal(server.job("k")["enabled"], False, "enabled")
    equal(api.call("POST", "/api/v1/jobs/resume", {"all": True})["changed"], ["k"], "resumed")
    equal(server.job("k")["enabled"], True, "enabled")


@case
def a_run_is_followed_to_its_end(api, _, target):
    api.create("j", target.url + "/flaky/1", http={"method": "POST", "url": target.url + "/flaky/1",
                                                   "body": "{{day}}"},
               retry={"strategy": "fixed", "max_retries": 2, "interval": "10ms"})
    run = api.call("POST", "/api/v1/jobs/j/run", {"parameters": {"day": "monday"}}, 202)
    done = api.await_state(run["id"], "succeeded")
    equal([attempt["outcome"] for attempt in done["attempts"]], ["failed", "succeeded"], "attempts")
    equal(done["payload"], {"day": "monday"}, "payload")
    found = api.call("GET", "/api/v1/jobs/j/statistics")
    equal((found["runs"], found["success_rate"]), (1, 1), "statistics")
    listed = api.call("GET", "/api/v1/runs?job=j&state=succeeded&total=true")
    equal([one["id"] for one in listed["items"]], [run["id"]], "the list")
    equal(listed["total"], {"count": 1, "relation": "exact"}, "total")
    api.call("POST", f"/api/v1/runs/{run['id']}/retry", expect=409)
    api.call("POST", f"/api/v1/runs/{run['id']}/cancel", expect=409)


@case
def a_cancel_reaches_the_executor(api, _, target):
    api.create("j", target.url + "/hang/cancel", timeout="1h")
    run = api.call("POST", "/api/v1/jobs/j/run", expect=202)["id"]
    target.await_calls("/hang/cancel")
    began = time.monotonic()
    # The run may end before the server writes this answer.
    status, _, asked = api.send("POST", f"/api/v1/runs/{run}/cancel")
    check(status in (200, 202), f"{status}: {asked}")
    equal(asked["state"], "running" if status == 202 else "cancelled", "state")
    if status == 202:
        equal(asked["cancel_requested"], True, "asked")
    api.await_state(run, "cancelled")
    check(time.monotonic() - began < 10, "it took too long")
    equal(api.call("POST", f"/api/v1/runs/{run}/cancel")["state"], "cancelled", "again")
    again = api.call("POST", f"/api/v1/runs/{run}/retry", expect=202)
    equal((again["parent"], again["trigger"]), (run, "manual"), "a run of its own")
    target.released.set()
    api.await_state(again["id"], "succeeded")
    listed = api.call("GET", f"/api/v1/runs?parent={run}")["items"]
    equal([one["id"] for one in listed], [again["id"]], "found by its parent")


@case
def failures_are_found_by_their_words(api, _, target):
    api.create("j", target.url + "/status/418", retry={"max_retries": 0})
    run = api.call("POST", "/api/v1/jobs/j/run", expect=202)["id"]
    failed = api.await_state(run, "failed")
    check("418" in failed["last_error"], failed["last_error"])
    equal([one["id"] for one in api.call("GET", "/api/v1/runs?q=418")["items"]], [run], "q")
    equal([one["id"] for one in api.call("GET", "/api/v1/jobs?q=418")["items"]], ["j"], "q")
    equal(api.call("GET", "/api/v1/jobs?last_state=failed")["items"][0]["id"], "j", "state")


@case
def pages_lose_and_repeat_nothing_while_others_write(api, server, _):
    """A walk sees each job that is not deleted exactly once, while other jobs come and go."""
    stay = [f"s{number:03}" for number in range(60)]
    for job_id in stay:
        api.create(job_id, group="g")
    for job_id in ("a", "m", "z"):
        for number in range(10):
            api.create(f"{job_id}{number}", group="g")
    stop, broken = threading.Event(), []

    def disturb(prefix):
        mine = Api(server, api.description)
        number = 0
        try:
            while not stop.is_set():
                mine.call("DELETE", f"/api/v1/jobs/{prefix}{number % 10}", expect=204)
                mine.create(f"{prefix}{number % 10}", group="g")
                number += 1
        except (Breach, Failure) as failure:
            broken.append(failure)

    threads = [threading.Thread(target=disturb, args=(prefix,)) for prefix in ("a", "m", "z")]
    for thread in threads:
        thread.start()
    try:
        for sort in ("id", "-id", "name", "-name", "created_at", "-created_at", "next_run_at"):
            seen = [job["id"] for job in api.walk(f"/api/v1/jobs?limit=7&group=g&sort={sort}")]
            kept = [job_id for job_id in seen if job_id.startswith("s")]
            equal(sorted(kept), stay, f"sort {sort}")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    equal(broken, [], "the disturbers")


@case
def runs_are_paged_while_more_come(api, _, __):
    api.create("j", "http://127.0.0.1:9/", retry={"max_retries": 0})
    ids = [api.call("POST", "/api/v1/jobs/j/run", expect=202)["id"] for _ in range(20)]

    def one_more(_):
        api.call("POST", "/api/v1/jobs/j/run", expect=202)

    for path in ("/api/v1/runs?limit=3", "/api/v1/jobs/j/runs?limit=3&sort=-id"):
        seen = [run["id"] for run in api.walk(path, one_more)]
        equal(len(seen), len(set(seen)), "no run twice")
        check(set(ids) <= set(seen), f"runs are lost: {path}")


@case
def cursors_survive_a_restart(api, server, _):
    for number in range(5):
        api.create(f"j{number}")
    page = api.call("GET", "/api/v1/jobs?limit=3")
    server.kill()
    server.start()
    rest = api.call("GET", "/api/v1/jobs?limit=3&cursor=" + page["next_cursor"])
    equal([job["id"] for job in page["items"] + rest["items"]],
          [f"j{number}" for number in range(5)], "all of them")
    equal(rest["next_cursor"], None, "the end")
    for path in ("/api/v1/jobs?sort=-id", "/api/v1/jobs?q=j", "/api/v1/runs?limit=3"):
        problem = api.call("GET", f"{path}&cursor={page['next_cursor']}", expect=400)
        equal(problem["errors"][0]["code"], "bad_cursor", path)


@case
def of_many_who_change_what_they_read_one_wins(api, server, _):
    """ETag races: no change is lost, every refused writer gets 412."""
    api.create("j", labels={"n": "0"})
    rounds, writers = 5, 6

    def work(_):
        mine, won = Api(server, api.description), 0
        for _ in range(rounds):
            _, headers, job = mine.send("GET", "/api/v1/jobs/j")
            job["labels"]["n"] = str(int(job["labels"]["n"]) + 1)
            status, _, _ = mine.send("PUT", "/api/v1/jobs/j", job, If_Match=headers["ETag"])
            check(status in (200, 412), status)
            won += status == 200
        return won

    with ThreadPoolExecutor(writers) as pool:
        won = sum(pool.map(work, range(writers)))
    job = api.call("GET", "/api/v1/jobs/j")
    equal((job["labels"]["n"], job["version"]), (str(won), won + 1), "every success counts once")
    check(won >= rounds, f"only {won}")


@case
def a_key_is_good_once_and_over_restarts(api, server, target):
    """Idempotency-Key"""
    api.create("j", target.url + "/ok/key")
    path, body = "/api/v1/jobs/j/run", {"parameters": {"a": 1}}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(
            lambda _: Api(server, api.description).send("POST", path, body, Idempotency_Key="k"),
            range(16)))
    for status, headers, _ in answers:
        check(status in (202, 409), status)
        check(status == 202 or headers.get("Retry-After") == "1", headers)
    first = {content["id"] for status, _, content in answers if status == 202}
    equal(len(first), 1, "one run")
    server.kill()
    server.start()
    status, headers, again = api.send("POST", path, body, Idempotency_Key="k")
    equal((status, {again["id"]}), (202, first), "after a restart")
    equal(headers["Idempotency-Replayed"], "true", "said so")
    equal(api.send("POST", path, {}, Idempotency_Key="k")[0], 422, "another body")
    equal(api.send("POST", "/api/v1/jobs/j/pause", body, Idempotency_Key="k")[0], 422, "elsewhere")
    equal(len(api.walk("/api/v1/jobs/j/runs")), 1, "runs")


@case
def every_refusal_is_a_problem(api, _, __):
    api.create("j")
    good = {"name": "n", "http": {"url": "http://127.0.0.1:9/"}, "schedule": HOUR}
    for method, path, body, expect in (
            ("POST", "/api/v1/jobs", "", 400), ("POST", "/api/v1/jobs", "{", 400),
            ("POST", "/api/v1/jobs", [], 400), ("POST", "/api/v1/jobs", {**good, "id": "j"}, 409),
            ("POST", "/api/v1/jobs", {**good, "id": "a/b"}, 400),
            ("POST", "/api/v1/jobs", {**good, "shedule": 1}, 400),
            ("POST", "/api/v1/jobs", {**good, "priority": 10}, 400),
            ("PATCH", "/api/v1/jobs/j", {"id": "k"}, 400),
            ("PATCH", "/api/v1/jobs/j", {"schedule": {"every": "never"}}, 400),
            ("PATCH", "/api/v1/jobs/x", {}, 404), ("PUT", "/api/v1/jobs/j", good, 428),
            ("DELETE", "/api/v1/jobs/x", None, 404), ("POST", "/api/v1/jobs/x/run", None, 404),
            ("POST", "/api/v1/jobs/j/run", {"parameters": []}, 400),
            ("POST", "/api/v1/jobs/j/pause", {"why": "x"}, 400),
            ("POST", "/api/v1/jobs/pause", {}, 400), ("POST", "/api/v1/jobs/resume", {}, 400),
            ("GET", "/api/v1/jobs?limit=0", None, 400), ("GET", "/api/v1/runs?sort=x", None, 400),
            ("GET", "/api/v1/jobs/x/ledger", None, 404), ("GET", "/api/v1/jobs/x/runs", None, 404),
            ("GET", "/api/v1/runs/x", None, 404), ("GET", ABSENT_RUN, None, 404),
            ("POST", ABSENT_RUN + "/cancel", None, 404), ("POST", ABSENT_RUN + "/retry", None, 404),
            ("DELETE", ABSENT_RUN, None, 404), ("GET", "/api/v1/nothing", None, 404),
            ("GET", "/api/v1/jobs/j/", None, 404), ("PUT", "/api/v1/jobs", good, 405)):
        api.call(method, path, body, expect)
    status, headers, problem = api.send("GET", "/api/v1/jobs/x", X_Request_Id="my-own-1")
    equal((status, headers["X-Request-Id"], problem["request_id"]), (404, "my-own-1", "my-own-1"),
          "request id")
    faults = api.call("POST", "/api/v1/jobs", {"nmae": "x", "type": "htpp", "schedule": {}}, 400)
    equal({fault["pointer"]: fault["code"] for fault in faults["errors"]}["/nmae"], "unknown", "it")
    check(len(faults["errors"]) >= 3, "all at once")
    equal(api.send("POST", "/api/v1/jobs", "<a/>", Content_Type="text/xml")[0], 415, "type")
    equal(api.send("POST", "/api/v1/jobs", good, Origin="http://evil.example")[0], 403, "origin")


@case
def the_description_is_served(api, _, __):
    status, headers, document = api.send("GET", "/api/v1/openapi.json")
    equal((status, document), (200, api.description.document), "the file")
    equal(api.send("GET", "/api/v1/openapi.json", If_None_Match=headers["ETag"])[0], 304, "known")
    equal(api.send("HEAD", "/api/v1/jobs")[0], 200, "HEAD")


@case
def a_token_guards_everything_but_the_description(api, server, _):
    server.stop()
    token = os.path.join(server.folder, "token")
    with open(token, "w", encoding="utf-8") as file:
        file.write("0123456789abcdef0123456789abcdef")
    os.chmod(token, 0o600)
    server.environment["KSANA_API_TOKEN_FILE"] = token
    server.start()
    for method, pattern, _ in api.description.operations:
        path = re.sub(r"\{\w+\}", "j", pattern)
        expect = 200 if path.endswith("openapi.json") else 401
        equal(api.send(method, path)[0], expect, f"{method} {path}")
    headers = {"Authorization": "Bearer 0123456789abcdef0123456789abcdef"}
    equal(api.send("GET", "/api/v1/jobs", None, **headers)[0], 200, "with the token")


if __name__ == "__main__":
    run_api_cases()
