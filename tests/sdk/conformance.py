#!/usr/bin/env python3
"""Runs the same cases with every client of sdk/ against the built server.

usage: conformance.py KSANA [python|node|shell] [CASE…]

Each client has a small agent here (agent.py, agent.mjs, agent.sh) with these types of tasks:
  echo      {"echo": its payload, "attempt": n}
  flaky     fails the first time (with a log line), then "at last"
  broken    a permanent failure
  nul       reports, logs and fails with texts that hold a NUL, which no store accepts
  after     fails the first time and asks for a retry after half a second, then succeeds
  nap       snoozes for half a second, then "awake"
  big       a result that is too large
  slow      takes the given number of seconds, then "slow"
  hold      reports 40 %, "page 4", then waits for a file ("held") or notes a request to end
  last      sends SIGTERM to its agent and ends at once: "last"
  stubborn  waits for a file, notes a request to end without obeying it, then "late"

The shell client works on one task at a time and has no Client, no Retry and no drain (it fetches
one task after the other, and pauses like the others after the early answer of a stopping server).
"""
import contextlib
import json
import os
import signal
import time

from kit.cases import arguments, case, run
from kit.checks import check, equal
from kit.sdk_place import SdkPlace, new_server
from kit.times import time_of
from kit.waiting import let_pass

PARALLEL = 6
ALL = ("python", "node", "shell")
FULL = ("python", "node")


def outcomes(run):
    return [attempt["outcome"] for attempt in run["attempts"]]


def starts_apart(run):
    first, second = (time_of(attempt["started_at"]) for attempt in run["attempts"][:2])
    return (second - first).total_seconds()


def answer_of(status, content):
    return status, {"Content-Type": "application/json"}, json.dumps(content).encode()


# ---- outcomes

@case(variants=ALL)
def happy_path(place):
    place.agent()
    payload = {"text": "żółw 刹那 \"quoted\"\n", "list": [1, None, {"a": 2.5}]}
    run = place.await_state(place.submit("echo", payload), "succeeded")
    equal(run["result"], {"echo": payload, "attempt": 1}, "result")
    equal(run["attempts"][0]["owner"], place.kind, "owner")
    run = place.await_state(place.submit("echo"), "succeeded")
    equal(run["result"], {"echo": None, "attempt": 1}, "without a payload")
    run = place.await_state(place.submit("echo", "a b"), "succeeded")
    equal(run["result"], {"echo": "a b", "attempt": 1}, "a text")


@case(variants=ALL)
def a_failure_is_tried_again(place):
    place.agent()
    run = place.await_state(place.submit("flaky"), "succeeded")
    equal((run["result"], outcomes(run)), ("at last", ["failed", "succeeded"]), "ends")
    detail = run["attempts"][0]["detail"]
    check("the first time" in detail["error"]["message"], detail)
    if place.kind != "shell":
        check(detail["error"]["type"] in ("ValueError", "RangeError"), detail)
        check("flaky" in detail["error"]["stack"], detail)
        equal(detail["log"], ["about to fail"], "log")
        equal(run["attempts"][1]["detail"]["log"], ["fine"], "log")


@case(variants=ALL)
def a_terminal_failure_is_not(place):
    place.agent()
    run = place.await_state(place.submit("broken"), "failed")
    equal(outcomes(run), ["failed"], "attempts")
    check("never" in run["last_error"], run["last_error"])


@case(variants=FULL)
def a_nul_in_a_text_stands_in_nobodys_way(place):
    place.agent(lease=30)
    file = place.new_file()
    run_id = place.submit("nul", {"file": str(file)})
    run = place.await_run(run_id, lambda run: run.get("progress") == 10, "has spoken")
    equal(run["progress_note"], "a\ufffdb", "note")
    file.touch()
    run = place.await_state(run_id, "failed")
    check("e\ufffdf" in run["last_error"], run["last_error"])
    equal(run["attempts"][0]["detail"]["log"], ["c\ufffdd"], "log")


@case(variants=FULL)
def a_retry_may_want_time(place):
    place.agent()
    run = place.await_state(place.submit("after"), "succeeded")
    equal(run["failures"], 1, "failures")
    check(starts_apart(run) >= 0.5, f"{starts_apart(run)} s")


@case(variants=ALL)
def a_snooze_uses_up_nothing(place):
    place.agent()
    run = place.await_state(place.submit("nap", retry={"strategy": "none"}), "succeeded")
    equal((run["result"], run["failures"]), ("awake", 0), "result and failures")
    check(starts_apart(run) >= 0.5, f"{starts_apart(run)} s")


@case(variants=FULL)
def a_result_that_is_refused_is_a_failure(place):
    place.agent()
    run = place.await_state(place.submit("big", retry={"strategy": "none"}), "failed")
    equal(run["attempts"][0]["detail"]["error"]["type"], "ResultRefused", "why")


# ---- running tasks

@case(variants=ALL)
def progress_is_there_while_it_runs(place):
    place.agent(lease=30 if place.kind != "shell" else place.shortest)
    file = place.new_file()
    run_id = place.submit("hold", {"file": str(file)})
    run = place.await_run(run_id, lambda run: run.get("progress") == 40, "half done")
    equal((run["state"], run["progress_note"]), ("running", "page 4"), "note")
    file.touch()
    run = place.await_state(run_id, "succeeded")
    equal(run["result"], "held", "result")
    if place.kind != "shell":
        equal(run["attempts"][0]["detail"]["log"], ["holding"], "log")


@case(variants=ALL)
def heartbeats_keep_a_lease(place):
    place.agent()
    run_id = place.submit("slow", {"seconds": 1.5 * place.shortest + 1})
    run = place.await_state(run_id, "succeeded")
    equal((run["result"], len(run["attempts"])), ("slow", 1), "in one attempt")
    # A server may notice an expired lease a little late, so the case counts the heartbeats.
    beats = len(place.wire.of("exchange") + place.wire.of("heartbeat"))
    check(beats >= 3, f"{beats} heartbeats")


@case(variants=ALL)
def a_cancel_reaches_the_handler(place):
    place.agent()
    run_id = place.submit("hold", {"file": str(place.new_file())})
    place.await_state(run_id, "running")
    place.call("POST", f"/runs/{run_id}/cancel", expect=202)
    place.await_note("cancelled", run_id)
    equal(outcomes(place.await_state(run_id, "cancelled")), ["cancelled"], "attempts")
    place.await_state(place.submit("echo"), "succeeded")


@case(variants=ALL)
def a_lost_lease_ends_the_work_and_late_answers_are_refused(place):
    agent = place.agent(concurrency=2)
    files = [place.new_file(), place.new_file()]
    held = place.submit("hold", {"file": str(files[0])})
    place.await_state(held, "running")
    mine, late = [held], None
    if place.kind != "shell":
        late = place.submit("stubborn", {"file": str(files[1])})
        place.await_note("has", late)
        mine.append(late)
    os.killpg(agent.pid, signal.SIGSTOP)    # longer than its lease: another agent gets the tasks
    for run in [place.claim(lease="1h") for _ in mine]:
        check(run["run_id"] in mine and run["attempt"] == 2, run)
        token = {"exec_id": run["exec_id"], "result": "of another"}
        place.call("POST", f"/agent/runs/{run['run_id']}/succeed", token, 204)
    os.killpg(agent.pid, signal.SIGCONT)
    place.await_note("lost", held)
    if late:
        files[1].touch()
        place.await_note("lost", late)
        place.wire.await_answer("succeed", 409)
    place.await_state(place.submit("echo"), "succeeded")    # the agent continues
    for run_id in mine:
        equal(place.show(run_id)["result"], "of another", "the accepted one")


@case(variants=ALL)
def a_heartbeat_that_is_refused_ends_the_work(place):
    """The lease is still valid by the agent's clock, but the server refuses the heartbeat."""
    place.agent(lease=6)
    held = place.submit("hold", {"file": str(place.new_file())})
    place.await_state(held, "running")
    stale = {"reports": [{"run_id": held, "verdict": "stale", "reason": "over"}], "runs": []}
    problem = {"status": 409, "code": "lease_lost", "detail": "over"}
    place.wire.answer("exchange", answer_of(200, stale), answer_of(200, stale))
    place.wire.answer("heartbeat", answer_of(409, problem))
    place.await_note("lost", held)


@case(variants=FULL)
def what_a_heartbeat_may_not_say_is_not_said_again(place):
    """Otherwise one refused note would cost the agent all its tasks."""
    problem = {"status": 400, "code": "invalid_argument", "detail": "no such note"}
    place.wire.answer("exchange", answer_of(400, problem))
    place.agent(lease=place.shortest)
    file = place.new_file()
    held = place.submit("hold", {"file": str(file)})
    place.wire.await_calls("exchange", 2)
    first, second = (json.loads(body)["reports"][0] for body, _ in place.wire.of("exchange")[:2])
    check("note" in first, first)
    check("note" not in second and "log" not in second, second)
    let_pass(1.5 * place.shortest, "a lease that is not kept would end")
    file.touch()
    run = place.await_state(held, "succeeded")
    equal(len(run["attempts"]), 1, "attempts")


@case(variants=FULL)
def many_are_fetched_and_worked_on_at_once(place):
    file = place.new_file()
    tasks = [{"type": "hold", "payload": {"file": str(file)}, "tenant": place.tenant,
              "timeout": "5m"} for _ in range(6)]
    made = place.call("POST", "/runs/batch", {"runs": tasks})["results"]
    place.agent(concurrency=4)
    runs = [place.await_state(run["id"], "running") for run in made[:4]]
    equal(len({run["attempts"][0]["started_at"] for run in runs}), 1, "claims")
    claims = [json.loads(body)["max"] for body, _ in place.wire.of("claim")]
    equal(claims, [4], "asked for")
    equal({place.show(run["id"])["state"] for run in made[4:]}, {"queued"}, "the others")
    file.touch()
    for run in made:
        place.await_state(run["id"], "succeeded")
    check(place.wire.connections <= 6, f"{place.wire.connections} connections are not kept")


# ---- failing networks and servers

@case(variants=ALL)
def a_report_is_sent_until_it_is_answered(place):
    place.wire.lose("succeed", 2)
    place.agent()
    run = place.await_state(place.submit("echo"), "succeeded")
    place.wire.await_calls("succeed", 3)    # the repeated report is answered like the first
    equal(len({body for body, _ in place.wire.of("succeed")}), 1, "bodies")
    place.await_state(place.submit("echo"), "succeeded")
    equal(place.show(run["id"])["attempts"], run["attempts"], "nothing else happened")


@case(variants=ALL)
def a_lost_answer_to_a_claim_costs_a_lease(place):
    place.wire.lose("claim")
    run_id = place.submit("echo")
    place.agent()
    equal(place.await_state(run_id, "succeeded")["result"]["attempt"], 2, "attempt")


@case(variants=ALL)
def pauses_grow_while_a_server_sends_agents_away(place):
    place.wire.answer("claim", (204, {}, b""), (503, {"Retry-After": "1"}, b""), (204, {}, b""),
                      (204, {}, b""), (429, {}, b""))
    place.agent()
    place.wire.await_calls("claim", 6)
    times = [at for _, at in place.wire.of("claim")]
    check(times[2] - times[1] >= 1, f"Retry-After is not obeyed: {times}")
    check(times[5] - times[2] >= 0.6, f"no backoff: {times}")
    place.await_state(place.submit("echo"), "succeeded")


@case(variants=FULL)
def drain_makes_an_agent_fetch_nothing_for_a_moment(place):
    place.agent(concurrency=2)
    file = place.new_file()
    held = place.submit("hold", {"file": str(file)})
    place.await_state(held, "running")
    place.wire.await_calls("claim", 2)
    beats = len(place.wire.of("exchange"))
    told = {"reports": [{"run_id": held, "verdict": "ok", "directives": ["drain"]}], "runs": []}
    place.wire.answer("exchange", answer_of(200, told))
    place.wire.await_calls("exchange", beats + 2)       # the agent has the first answer
    drained = place.wire.of("exchange")[beats][1]
    # fetched by the poll that was already waiting
    place.await_state(place.submit("echo"), "succeeded")
    place.wire.await_calls("claim", 3)
    quiet = place.wire.of("claim")[2][1] - drained
    check(quiet >= 0.9, f"it fetched after {quiet:.2f} s")
    file.touch()
    place.await_state(held, "succeeded")


@case(variants=ALL, own_server=True)
def a_server_that_restarts_is_found_again(place):
    place.agent(lease=20)
    place.await_state(place.submit("echo"), "succeeded")
    for stop in (place.server.stop, place.server.kill):
        place.await_polls(1)
        polls = len(place.wire.of("claim"))
        stop()
        place.wire.await_calls("claim", polls + 2)      # the agent retries
        place.server.start()
        place.await_state(place.submit("echo"), "succeeded")
    file = place.new_file()
    held = place.submit("hold", {"file": str(file)})
    place.await_state(held, "running")
    place.server.kill()
    file.touch()
    place.wire.await_calls("succeed", len(place.wire.of("succeed")) + 1)
    place.server.start()
    run = place.await_state(held, "succeeded")
    equal((run["result"], len(run["attempts"])), ("held", 1), "the same attempt")


# ---- stopping

@case(variants=ALL)
def an_idle_agent_ends_at_once(place):
    agent = place.agent()
    place.wire.await_calls("claim", 1)
    before = time.monotonic()
    agent.send_signal(signal.SIGTERM)
    place.await_exit(agent)
    check(time.monotonic() - before < 8, "it waited for its poll")
    place.await_polls(0)                                # the server has noticed
    run_id = place.submit("echo")
    equal(place.claim()["run_id"], run_id, "no other agent has it")
    equal(place.show(run_id)["attempts"][0]["owner"], "test", "owner")


@case(variants=ALL)
def a_stop_lets_tasks_finish(place):
    agent = place.agent(lease=30, grace=20)
    file = place.new_file()
    held = place.submit("hold", {"file": str(file)})
    place.await_run(held, lambda run: run.get("progress") == 40, "half done")
    agent.send_signal(signal.SIGTERM)
    after = place.submit("echo")
    file.touch()
    place.await_exit(agent)
    equal(place.show(held)["state"], "succeeded", "what was held")
    equal(place.show(after)["state"], "queued", "what came later")


# Several times: the order of the two events is random.
@case(variants=ALL)
def a_task_that_ends_with_the_stop_is_told(place):
    for _ in range(5):
        agent = place.agent(lease=30, grace=2)
        last = place.submit("last")
        place.await_exit(agent)
        equal(place.show(last)["state"], "succeeded", "it was done")


@case(variants=ALL)
def a_stop_releases_what_does_not_finish(place):
    agent = place.agent(lease=30, grace=0.5)
    stuck = place.submit("stubborn", {"file": str(place.new_file())})
    place.await_note("has", stuck)
    agent.send_signal(signal.SIGTERM)
    place.await_exit(agent)
    run = place.show(stuck)
    equal((run["state"], run["failures"]), ("queued", 0), "given back unharmed")
    equal(place.claim()["run_id"], stuck, "to another agent")


@case(variants=ALL)
def a_wrong_token_is_told_at_once(place):
    agent = place.agent(token="wrong")
    check(agent.wait(20) != 0, "exit code")
    check("401" in place.said(), place.said())


@case(variants=FULL)
def a_client_submits_waits_and_cancels(place):
    place.agent(concurrency=2)
    place.wire.lose("batch")
    place.wire.lose("runs")
    equal(place.client(), {"one": {"echo": {"n": 1}, "attempt": 1}, "many": [0, 1, 2],
                           "cancelled": "cancelled", "waits": True,
                           "refused": [400, "invalid_argument", True]}, "client")
    page = place.call("GET", f"/runs?tenant={place.tenant}&type=echo&total=true&limit=1")
    equal(page["total"]["count"], 5, "nothing was stored twice")
    equal(page["items"][0]["id"][14], "7", "version of an id: lists go by ids")


@contextlib.contextmanager
def sdk_place(binary, shared, one):
    """Uses the shared server, or a new one for a case that stops it."""
    with contextlib.ExitStack() as stack:
        server = shared
        if one.options.get("own_server"):
            server = stack.enter_context(new_server(binary)).start()
        yield stack.enter_context(SdkPlace(server, one.variant, one.plain_name))


def main():
    given = arguments("KSANA")
    with new_server(given.ksana) as shared:
        shared.start()
        run(given, lambda one: sdk_place(given.ksana, shared, one), PARALLEL)


if __name__ == "__main__":
    main()
