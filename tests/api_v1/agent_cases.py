#!/usr/bin/env python3
"""Agents over /api/v1 of the built server. Every answer is compared with the description.

usage: agent_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import http.client
import json
import socket
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from kit.agent_client import (CLAIM, EXCHANGE, RUNS, await_polls, claim, claim_one, pointers, show,
                              submit, tell)
from kit.api_client import run_api_cases
from kit.cases import case
from kit.checks import check, equal
from kit.waiting import PATIENCE, let_pass, wait_until


@case
def t03_agents_fetch_by_filter_and_order(api, _, __):  # T-03
    for number, task in enumerate([
            {"type": "a", "tenant": "acme"}, {"type": "b", "category": "x"},
            {"type": "a", "creator": "ann"}, {"type": "a", "priority": 9},
            {"type": "a", "selector": {"gpu": "yes"}}]):
        api.call("POST", RUNS, {**task, "payload": number}, 201)
    equal([run["payload"] for run in claim(api, types=["b"], max=9)], [1], "type")
    equal([run["payload"] for run in claim(api, tenant="acme", max=9)], [0], "tenant")
    claim(api, categories=["x"], expect=204)
    equal([run["payload"] for run in claim(api, max=9)], [3, 2], "by priority, then by age")
    claim(api, labels={"gpu": "no"}, expect=204)
    equal([run["payload"] for run in claim(api, labels={"gpu": "yes", "zone": "a"})], [4], "label")
    submit(api, "c", creator="bob")
    claim(api, creator="ann", expect=204)
    run = claim_one(api, creator="bob", types=["a", "c"], lease="5s")
    equal((run["type"], run["attempt"], run["fence"], run["payload"], run["lease_expires_in"]),
          ("c", 1, 1, None, 5), "what an agent is told")
    check(run["traceparent"].startswith("00-" + run["run_id"].replace("-", "")), run["traceparent"])


@case
def t03_two_agents_never_get_the_same(api, _, __):  # T-03
    tasks = [{"type": "t", "payload": number} for number in range(400)]
    api.call("POST", RUNS + "/batch", {"runs": tasks})

    def work(name):
        mine = []
        while True:
            runs = api.send("POST", CLAIM, {"worker": name, "max": 7})
            if runs[0] == 204:
                return mine
            mine += [run["payload"] for run in runs[2]["runs"]]

    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(work, [f"w{number}" for number in range(8)]))
    equal(sorted(sum(parts, [])), list(range(400)), "each once")


@case
def t04_a_deadline_ends_an_attempt_and_the_next_is_another(api, _, __):  # T-04
    retry = {"strategy": "fixed", "max_retries": 1, "interval": "0s"}
    made = submit(api, timeout="2s", retry=retry)
    first = claim_one(api, lease="1h", worker="slow")
    equal(first["deadline_in"], 2, "deadline")
    second = claim_one(api, wait="30s", worker="quick")
    equal((second["run_id"], second["attempt"], second["fence"]), (made["id"], 2, 2), "again")
    check(first["exec_id"] != second["exec_id"], "a fresh exec_id")
    problem = tell(api, first, "succeed", 409, result="late")
    equal(problem["code"], "lease_lost", "the late one")
    tell(api, first, "heartbeat", 409)
    tell(api, second, "succeed", result="good")
    run = show(api, made["id"])
    equal((run["state"], run["result"]), ("succeeded", "good"), "one result")
    equal([attempt["outcome"] for attempt in run["attempts"]], ["timed_out", "succeeded"],
          "attempts")


@case
def a_lease_that_ends_gives_the_run_to_another(api, server, _):
    made = submit(api, timeout="1h", retry={"strategy": "fixed", "max_retries": 3,
                                            "interval": "0s"})
    first = claim_one(api, lease="3s")
    for _ in range(3):      # longer than its lease: it is kept by heartbeats
        let_pass(1.2, "a part of the lease")
        told = tell(api, first, "heartbeat", 200, lease="3s")
        equal((told["lease_expires_in"], told["directives"]), (3, []), "still mine")
    second = claim_one(api, wait="30s", worker="other")
    equal((second["run_id"], second["attempt"]), (made["id"], 2), "lost")
    before = show(api, made["id"])
    for verb, body in (("succeed", {"result": 1}), ("fail", {"error": {"message": "m"}}),
                       ("snooze", {"after": "1s"}), ("release", {}), ("heartbeat", {})):
        equal(tell(api, first, verb, 409, **body)["code"], "lease_lost", verb)
    equal(show(api, made["id"]), before, "nothing was changed")
    server.await_line("a report of an agent came too late")
    metrics = server.request("GET", "/metrics")[2]
    check("ksana_reports_refused_total 5" in metrics, "counted")
    tell(api, second, "succeed")


@case
def t05_reports_end_in_every_way(api, _, __):  # T-05
    retry = {"strategy": "fixed", "max_retries": 1, "interval": "0s"}
    made = submit(api, retry=retry)
    run = claim_one(api)
    error = {"type": "ValueError", "message": "bad æ", "stack": "line 1\nline 2"}
    tell(api, run, "fail", error=error, log=["about to fail"])
    tell(api, run, "fail", error=error)        # the same again: the same answer
    run = claim_one(api)
    equal(run["attempt"], 2, "a retry")
    tell(api, run, "fail", error={"message": "worse"})
    shown = show(api, made["id"])
    equal((shown["state"], shown["last_error"]), ("failed", "worse"), "retries are used up")
    first = shown["attempts"][0]
    equal((first["error"], first["detail"]["error"]), ("ValueError: bad æ", error), "kept")
    equal(first["detail"]["log"], ["about to fail"], "its lines")

    permanent = submit(api, retry=retry)["id"]
    tell(api, claim_one(api), "fail", error={"message": "no"}, retry="no")
    equal(show(api, permanent)["state"], "failed", "not tried again")

    held = submit(api, need_manual=True, retry={"strategy": "none"})["id"]
    tell(api, claim_one(api), "fail", error={"message": "no"})
    equal(show(api, held)["state"], "held", "a person's hands")

    after = submit(api, retry=retry)["id"]
    tell(api, claim_one(api), "fail", error={"message": "m"}, retry={"after": "1h"})
    shown = show(api, after)
    equal((shown["state"], shown["failures"]), ("scheduled", 1), "later")

    snoozed = submit(api)["id"]
    tell(api, claim_one(api), "snooze", after="1h")
    equal((show(api, snoozed)["state"], show(api, snoozed)["failures"]), ("scheduled", 0), "snooze")

    released = submit(api)["id"]
    tell(api, claim_one(api), "release")
    run = claim_one(api)
    equal((run["run_id"], show(api, released)["failures"]), (released, 0), "released")
    tell(api, run, "succeed", result={"ok": True})
    tell(api, run, "succeed", result={"ok": True})
    equal(tell(api, run, "fail", 409, error={"message": "m"})["code"], "conflict",
          "it has succeeded")
    equal(show(api, released)["result"], {"ok": True}, "result")


@case
def progress_and_lines_are_there_while_it_runs(api, _, __):
    made = submit(api, timeout="1h")["id"]
    run = claim_one(api)
    tell(api, run, "heartbeat", 200, progress=40, note="page 4", log=["one", "two \"quoted\""])
    tell(api, run, "heartbeat", 200, log=["three"])
    shown = show(api, made)
    equal((shown["progress"], shown["progress_note"]), (40, "page 4"), "progress")
    equal(shown["attempts"][0]["detail"]["log"], ["one", "two \"quoted\"", "three"], "lines")
    tell(api, run, "succeed", log=["done"])
    shown = show(api, made)
    equal(shown["progress"], 100, "progress")
    equal(shown["attempts"][0]["detail"]["log"][-1], "done", "the last line")


@case
def a_nul_in_what_agents_say_is_replaced(api, _, __):
    submit(api, retry={"strategy": "none"})
    run = claim_one(api)
    tell(api, run, "heartbeat", 200, progress=1, note="a\0b", log=["c\0d"])
    equal(show(api, run["run_id"])["progress_note"], "a\ufffdb", "note")
    note = "\0" * 999 + "x"
    tell(api, run, "heartbeat", 200, note=note)
    equal(show(api, run["run_id"])["progress_note"], "\ufffd" * 333, "cut to what is kept")
    tell(api, run, "fail", error={"type": "T\0", "message": "e\0f", "stack": "g\0h"}, log=["\0"])
    over = show(api, run["run_id"])
    equal(over["last_error"], "T\ufffd: e\ufffdf", "error")
    equal(over["attempts"][0]["detail"], {
        "error": {"type": "T\ufffd", "message": "e\ufffdf", "stack": "g\ufffdh"},
        "log": ["c\ufffdd", "\ufffd"]}, "detail")


@case
def a_cancel_comes_with_the_heartbeat(api, _, __):
    made = submit(api, timeout="1h")["id"]
    run = claim_one(api)
    equal(tell(api, run, "heartbeat", 200)["directives"], [], "nothing")
    api.call("POST", f"{RUNS}/{made}/cancel", expect=202)
    equal(tell(api, run, "heartbeat", 200)["directives"], ["cancel"], "stop")
    answer = api.call("POST", EXCHANGE, {"worker": "w", "reports": [
        {"run_id": run["run_id"], "exec_id": run["exec_id"], "outcome": "heartbeat"}]})
    equal(answer["reports"][0]["directives"], ["cancel"], "in an exchange, too")
    tell(api, run, "fail", error={"message": "stopped"})
    equal(show(api, made)["state"], "cancelled", "it is over")


@case
def a_poll_is_answered_by_the_commit(api, _, __):
    """A commit wakes the poll. The server also looks once a second; half of the waits are far
    shorter than that."""
    took = []
    with ThreadPoolExecutor(1) as pool:
        for _ in range(15):
            waits = pool.submit(claim_one, api, wait="30s")
            await_polls(api, 1)
            began = time.monotonic()
            made = submit(api)["id"]
            run = waits.result(PATIENCE)
            took.append(time.monotonic() - began)
            equal(run["run_id"], made, "the run")
            tell(api, run, "succeed")
    check(sorted(took)[7] < 0.2, f"it took {sorted(took)}")


@case
def a_poll_ends_with_its_time(api, _, __):
    began = time.monotonic()
    claim(api, wait="300ms", expect=204)
    took = time.monotonic() - began
    check(0.25 < took < 5, f"it took {took}")
    answer = api.call("POST", EXCHANGE, {"worker": "w", "claim": {"wait": "100ms"}})
    equal(answer, {"reports": [], "runs": []}, "nothing")


@case
def a_run_that_comes_due_answers_a_poll(api, _, __):
    made = submit(api, delay="700ms")
    began = time.monotonic()
    equal(claim_one(api, wait="30s")["run_id"], made["id"], "its time has come")
    check(time.monotonic() - began < 10, "far too late")


@case
def many_polls_are_served_one_run_each_in_order(api, _, __):
    order = []

    def wait(number):
        run = claim_one(api, worker=f"w{number}", wait="30s")
        order.append((number, run["payload"]))

    threads = []
    for number in range(6):
        threads.append(threading.Thread(target=wait, args=(number,)))
        threads[-1].start()
        await_polls(api, number + 1)
    for number in range(6):
        submit(api, payload=number)
        wait_until(lambda: len(order) > number, f"a poll that gets task {number}", pause=0.002)
    for thread in threads:
        thread.join()
    equal(order, [(number, number) for number in range(6)], "who came first is served first")


@case
def polls_for_other_runs_wait_on(api, _, __):
    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(claim, api, "other", types=["x"], wait="30s")
        await_polls(api, 1)
        mine = pool.submit(claim, api, "mine", types=["y"], wait="30s")
        await_polls(api, 2)
        for number in range(30):
            submit(api, "z", payload=number)
        submit(api, "y")
        equal(mine.result(PATIENCE)[0]["type"], "y", "mine")
        check(not other.done(), "the other waits")
        submit(api, "x")
        equal(other.result(PATIENCE)[0]["type"], "x", "other")


@case
def what_nobody_takes_is_given_back(api, server, _):
    """A poll whose client has gone gets no run; the next agent gets the run at once."""
    for _ in range(5):
        gone = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        gone.request("POST", CLAIM, json.dumps({"worker": "gone", "wait": "60s"}))
        await_polls(api, 1)
        gone.sock.shutdown(socket.SHUT_RDWR)
        gone.close()
        await_polls(api, 0)
        made = submit(api)["id"]
        run = claim_one(api, worker="here")
        equal((run["run_id"], run["attempt"]), (made, 1), "untouched")
        tell(api, run, "succeed")


@case
def polls_of_clients_that_leave_at_once_leave_too(api, server, _):
    """Some clients leave while the server parks their poll: one in twelve, so there are many."""
    for number in range(100):
        gone = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        gone.request("POST", CLAIM, json.dumps({"worker": "gone", "wait": "60s"}))
        until = time.perf_counter() + 0.00003 * number
        while time.perf_counter() < until:      # a sleep would be longer than this time
            pass
        gone.close()
        # After each client: the next one that leaves would end a forgotten poll, too. Several
        # times: the server may park the poll only now.
        for _ in range(5):
            await_polls(api, 0)


@case
def a_server_that_stops_answers_its_polls(api, server, _):
    with ThreadPoolExecutor(4) as pool:
        waits = [pool.submit(server.request, "POST", CLAIM,
                             {"worker": f"w{number}", "wait": "60s"}) for number in range(4)]
        await_polls(api, 4)
        began = time.monotonic()
        equal(server.stop(), 0, "exit code")
        equal({wait.result(PATIENCE)[0] for wait in waits}, {204}, "answered")
        check(time.monotonic() - began < 10, "it took too long")
    server.start()
    submit(api)
    claim_one(api)


@case
def runs_of_agents_outlive_the_server(api, server, _):
    made = submit(api, timeout="1h")["id"]
    run = claim_one(api, lease="1m")
    server.kill()
    server.start()
    tell(api, run, "heartbeat", 200)
    tell(api, run, "succeed", result=1)
    equal(show(api, made)["state"], "succeeded", "state")


@case
def an_exchange_reports_and_claims_in_one(api, _, __):
    ids = [submit(api, payload=number, retry={"strategy": "none"})["id"] for number in range(4)]
    first = api.call("POST", EXCHANGE, {"worker": "w", "claim": {"max": 3}})
    equal([run["payload"] for run in first["runs"]], [0, 1, 2], "runs")
    tokens = [{"run_id": run["run_id"], "exec_id": run["exec_id"]} for run in first["runs"]]
    nowhere = str(uuid.uuid4())
    second = api.call("POST", EXCHANGE, {"worker": "w", "claim": {"max": 3}, "reports": [
        {**tokens[0], "outcome": "succeeded", "result": {"n": 1}},
        {**tokens[1], "outcome": "failed", "error": {"message": "m"}},
        {**tokens[2], "outcome": "released"},
        {**tokens[2], "outcome": "succeeded"},
        {"run_id": ids[3], "exec_id": "guess", "outcome": "succeeded"},
        {"run_id": nowhere, "exec_id": "x", "outcome": "succeeded"}]})
    equal([report["verdict"] for report in second["reports"]],
          ["ok", "ok", "ok", "stale", "stale", "not_found"], "verdicts")
    equal(sorted(run["payload"] for run in second["runs"]), [2, 3], "the released one, too")
    equal([show(api, run_id)["state"] for run_id in ids],
          ["succeeded", "failed", "running", "running"], "states")
    again = api.call("POST", EXCHANGE, {"worker": "w", "reports": [
        {**tokens[0], "outcome": "succeeded", "result": {"n": 1}}]})
    equal(again["reports"][0]["verdict"], "ok", "sent twice")
    api.call("POST", EXCHANGE, {"worker": "w"})


@case
def a_second_result_of_one_attempt_is_a_conflict(api, _, __):
    made = submit(api)["id"]
    run = claim_one(api)
    for _again in range(2):
        tell(api, run, "succeed", result={"n": 1})
    problem = tell(api, run, "succeed", 409, result={"n": 2})
    equal((problem["code"], problem["detail"]),
          ("conflict", 'this attempt was reported as success ({"n":1}) before, and now as '
                       'success ({"n":2})'), "both are named")
    problem = tell(api, run, "fail", 409, error={"message": "no"})
    equal(problem["code"], "conflict", "it cannot have failed as well")
    report = {"run_id": made, "exec_id": run["exec_id"]}
    answer = api.call("POST", EXCHANGE, {"worker": "w", "reports": [
        {**report, "outcome": "succeeded", "result": {"n": 1}},
        {**report, "outcome": "succeeded", "result": {"n": 3}},
        {**report, "outcome": "failed", "error": {"message": "no"}},
        {**report, "outcome": "heartbeat"}]})["reports"]
    equal([one["verdict"] for one in answer], ["ok", "refused", "refused", "stale"], "verdicts")
    check('({"n":3})' in answer[1]["reason"], answer[1]["reason"])
    equal(show(api, made)["result"], {"n": 1}, "the first one stays")
    made = submit(api, retry={"strategy": "fixed", "max_retries": 1, "interval": "1h"})["id"]
    run = claim_one(api)
    for _again in range(2):
        tell(api, run, "fail", error={"message": "no"})
    tell(api, run, "succeed", 409)
    tell(api, run, "fail", 409, error={"message": "other"})
    equal(show(api, made)["state"], "scheduled", "its retry waits")


@case
def another_agent_cannot_report_on_a_run(api, _, __):
    made = submit(api, timeout="1h")["id"]
    run = claim_one(api, worker="mailer-1")
    beat = {"run_id": made, "exec_id": run["exec_id"], "outcome": "heartbeat", "progress": 9}
    for name, verdict in (("mailer-2", "stale"), ("mailer", "stale"), ("mailer-1", "ok")):
        answer = api.call("POST", EXCHANGE, {"worker": name, "reports": [beat]})
        equal(answer["reports"][0]["verdict"], verdict, name)
    for verb, body in (("heartbeat", {}), ("succeed", {}), ("snooze", {"after": "720h"}),
                       ("release", {}), ("fail", {"error": {"message": "m"}})):
        problem = tell(api, run, verb, 409, worker="mailer-2", **body)
        equal(problem["code"], "lease_lost", verb)
    equal(show(api, made)["progress"], 9, "nothing else has changed")
    tell(api, run, "succeed", worker="mailer-1")


@case
def what_a_target_is_told_is_no_key_to_its_run(api, _, target):
    api.call("POST", "/api/v1/jobs", {
        "id": "slow", "name": "slow", "timeout": "5m",
        "schedule": {"kind": "once", "run_at": "2100-01-01T00:00:00Z"},
        "http": {"method": "GET", "url": target.url + "/slow/30",
                 "headers": {"X-Exec": "{{exec_id}}"}}}, 201)
    run_id = api.call("POST", "/api/v1/jobs/slow/run", {}, 202)["id"]
    call, = target.await_calls("/slow/30")
    equal(call.headers["X-Exec"], call.headers["Ksana-Exec-Id"], "the same in both places")
    run = {"run_id": run_id, "exec_id": call.headers["Ksana-Exec-Id"]}
    before = show(api, run_id)
    for verb, body in (("heartbeat", {"lease": "24h"}), ("snooze", {"after": "720h"}),
                       ("succeed", {}), ("release", {})):
        for more in ({}, {"worker": before["owner"].split("/")[0]}):
            equal(tell(api, run, verb, 409, **body, **more)["code"], "lease_lost", verb)
    answer = api.call("POST", EXCHANGE, {"worker": before["owner"].split("/")[0], "reports": [
        {**run, "outcome": "heartbeat", "lease": "24h"}]})
    equal(answer["reports"][0]["verdict"], "stale", "in an exchange, too")
    after = show(api, run_id)
    equal([after[key] for key in ("state", "owner", "attempt", "deadline")],
          [before[key] for key in ("state", "owner", "attempt", "deadline")], "as it was")
    spans = api.call("GET", f"/api/v1/runs/{run_id}/spans")
    check("exec_id" not in json.dumps(spans), spans)
    api.call("POST", f"/api/v1/runs/{run_id}/cancel", {}, 202)


@case
def hostile_input_is_refused_with_the_reason(api, server, _):
    made = submit(api, payload="x", timeout="1h")["id"]
    run = claim_one(api)
    before = show(api, made)

    def faults(path, body, expect=400):
        problem = api.call("POST", path, body, expect)
        return pointers(problem) if expect == 400 else problem["code"]

    heartbeat = f"/api/v1/agent/runs/{made}/heartbeat"
    token = {"exec_id": run["exec_id"]}
    equal(faults(heartbeat, {**token, "progress": 101}), ["/progress"], "progress 101")
    equal(faults(heartbeat, {**token, "progress": -1}), ["/progress"], "progress -1")
    equal(faults(heartbeat, {**token, "progress": "50"}), ["/progress"], "a text")
    equal(faults(heartbeat, {**token, "lease": "25h"}), ["/lease"], "a long lease")
    equal(faults(heartbeat, {**token, "lease": "1ms"}), ["/lease"], "a short one")
    equal(faults(heartbeat, {**token, "note": "n" * 1001}), ["/note"], "a long note")
    equal(faults(heartbeat, {**token, "log": ["l"] * 101}), ["/log"], "many lines")
    equal(faults(heartbeat, {**token, "log": ["l" * 2001]}), ["/log/0"], "a long line")
    equal(faults(heartbeat, {**token, "porgress": 1}), ["/porgress"], "unknown")
    equal(faults(heartbeat, {}), ["/exec_id"], "no exec_id")
    equal(faults(heartbeat, {"exec_id": ""}), ["/exec_id"], "an empty one")
    equal(faults(heartbeat, {"exec_id": "x" * 101}), ["/exec_id"], "a long one")
    equal(faults(heartbeat, {"exec_id": "guess"}, 409), "lease_lost", "a guess")
    equal(faults(heartbeat, {"exec_id": str(uuid.uuid4())}, 409), "lease_lost", "a good guess")
    for run_id in ("nonsense", str(uuid.uuid4()), "%00"):
        equal(api.send("POST", f"/api/v1/agent/runs/{run_id}/succeed", token)[0] in (400, 404),
              True, run_id)
    other = submit(api, tenant="acme")["id"]
    api.call("POST", f"/api/v1/agent/runs/{other}/succeed", token, 409)  # another tenant's run
    equal(faults(f"/api/v1/agent/runs/{made}/fail", {**token, "retry": "maybe"}),
          ["/error", "/retry"], "fail")
    equal(faults(f"/api/v1/agent/runs/{made}/fail",
                 {**token, "error": {"msg": "x"}, "retry": {"after": "-1s"}}),
          ["/error/message", "/error/msg", "/retry/after"], "fail")
    equal(faults(f"/api/v1/agent/runs/{made}/fail", {**token, "error": "a text"}), ["/error"],
          "an error is an object, as the description says")
    equal(faults(f"/api/v1/agent/runs/{made}/snooze", token), ["/after"], "snooze")
    huge = "x" * (1 << 20)
    equal(faults(f"/api/v1/agent/runs/{made}/succeed", {**token, "result": huge}), ["/result"],
          "a large result")
    equal(faults(CLAIM, {"worker": "a b", "max": 501, "lease": "0s", "wait": "61s",
                         "types": ["a/b"], "state": "x"}),
          ["/lease", "/max", "/state", "/types/0", "/wait", "/worker"], "claim")
    equal(faults(CLAIM, {}), ["/worker"], "claim")
    equal(faults(EXCHANGE, {"worker": "w", "reports": [
        {"run_id": made, **token, "outcome": "suceeded"}, {"run_id": "x", "outcome": "released"},
        {"run_id": made, **token, "outcome": "heartbeat", "progress": 101}]}),
          ["/reports/0/outcome", "/reports/1/exec_id", "/reports/1/run_id", "/reports/2/progress"],
          "exchange")
    equal(faults(RUNS, {"type": "a", "unique": {"key": "k", "states": ["done"]}}),
          ["/unique/states/0"], "an unknown state")
    equal(faults(RUNS, {"type": "a", "payload": huge}), ["/payload"], "a large payload")
    equal(api.send("POST", RUNS, {"type": "a", "payload": "x" * 10_000_000})[0], 413, "10 MB")
    equal(faults(RUNS, {"type": "a", "delay": "1h", "start_at": "2026-01-01T00:00:00Z"}),
          ["/delay"], "both")
    equal(api.send("POST", RUNS, '{"type":"a","type":"b"}')[0], 400, "a key twice")
    equal(api.send("POST", RUNS, "[" * 100_000)[0], 400, "deep")
    equal(api.send("POST", RUNS + "?x=1", {"type": "a"})[0], 400, "a query")
    equal(api.send("POST", CLAIM, "worker=w", Content_Type="text/plain")[0], 415, "no JSON")
    equal(show(api, made), before, "nothing was changed")
    submit(api, payload="\u0000", creator="é")     # escaped: no store has to keep a NUL
    equal(claim(api, tenant="default")[0]["payload"], "\u0000", "comes back")


if __name__ == "__main__":
    run_api_cases()
