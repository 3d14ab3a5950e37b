#!/usr/bin/env python3
"""The checker finds planted faults: each case breaks a sound history in one place.

usage: checker_test.py [CASE…]
"""
import contextlib
import copy
from datetime import datetime, timedelta, timezone

from chaos.checker import Effect, History, check_history, seconds
from kit.cases import arguments, case, run
from kit.checks import check, equal

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def at(offset):
    return START + timedelta(seconds=offset)


def text(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def job(job_id, **members):
    return {"id": job_id, "created_at": text(START), "depends_on": [],
            "schedule": {"kind": "every", "every": "1s", "start_at": text(START)}, **members}


def fire(job_id, second, lasts=0.3):
    """A run that succeeded at once, and what its target saw."""
    run_id, exec_id = f"{job_id}-{second}", f"{job_id}-{second}-x"
    status = {"state": "succeeded", "attempt": 1, "fence": 1, "exec_id": exec_id,
              "outcome": "succeeded", "started_at": text(at(second)),
              "ended_at": text(at(second + lasts)), "finished_at": text(at(second + lasts))}
    made = {"id": run_id, "job_id": job_id, "nominal_at": text(at(second)), "status": status,
            "policy": {"overlap": "skip", "retry": {"max_retries": 3, "interval": "2s"}}}
    return made, Effect(run_id, exec_id, 1, at(second), at(second + lasts))


def sound():
    """Ten seconds of a job that fires every second, and of one that depends on it. One fire was
    missed and one run needed a second attempt."""
    history = History(jobs={"a": job("a"), "b": job("b", depends_on=[{"job": "a"}])}, runs={},
                      attempts=[], ledger=[], effects=[], acknowledged=set(), started=at(0.5),
                      ended=at(10))
    for second in range(1, 11):
        if second == 4:
            history.ledger.append({"job_id": "a", "count": 1, "first": text(at(4)),
                                   "last": text(at(4))})
            continue
        made, effect = fire("a", second)
        history.runs[made["id"]] = made
        history.effects.append(effect)
    for second in range(2, 11):
        made, effect = fire("b", second + 0.0)
        made["id"] = f"b-{second}"
        effect.run_id = made["id"]
        history.runs[made["id"]] = made
        history.effects.append(effect)
    history.ledger.append({"job_id": "b", "count": 1, "first": text(at(1)), "last": text(at(1))})
    again = history.runs["a-7"]["status"]
    history.attempts.append({"run_id": "a-7", "number": 1, "exec_id": "first", "fence": 1,
                             "outcome": "lost", "started_at": text(at(7)),
                             "ended_at": text(at(7.1))})
    again.update(attempt=2, fence=2, started_at=text(at(7.1)))
    for effect in history.effects:
        if effect.run_id == "a-7":
            effect.fence = 2
            effect.begun = at(7.1)
    history.acknowledged.add("a-7")
    return history


def finds(history, mark):
    found = check_history(history)
    check(any(one.startswith(mark) for one in found), f"{mark} was not found, but {found}")


@case
def a_sound_history_has_no_faults(history):
    equal(check_history(history), [], "faults")


@case
def a_fire_without_an_entry(history):
    del history.runs["a-3"]
    finds(history, "I1")


@case
def a_missed_fire_that_is_not_in_the_ledger(history):
    history.ledger.clear()
    finds(history, "I1")


@case
def a_range_with_a_wrong_count(history):
    history.ledger[0]["count"] = 2
    finds(history, "I1")


@case
def a_run_for_no_fire(history):
    history.runs["a-3"]["nominal_at"] = text(at(3.5))
    finds(history, "I1: a has no fire")


@case
def a_fire_with_two_runs(history):
    double = copy.deepcopy(history.runs["a-3"])
    double["id"], double["status"]["exec_id"] = "a-3-again", "a-3-again-x"
    history.runs["a-3-again"] = double
    history.effects.append(Effect("a-3-again", "a-3-again-x", 1, at(3.5), at(3.6)))
    finds(history, "I2")


@case
def a_fire_with_a_run_and_an_entry(history):
    history.ledger.append({"job_id": "a", "count": 1, "first": text(at(5)), "last": text(at(5))})
    finds(history, "I2")


@case
def an_acknowledged_run_that_is_gone(history):
    history.acknowledged.add("nowhere")
    finds(history, "I3")


@case
def a_run_that_never_ends(history):
    history.runs["a-3"]["status"]["state"] = "running"
    finds(history, "I7")


@case
def two_accepted_reports(history):
    history.attempts[0]["outcome"] = "succeeded"
    finds(history, "I4")


@case
def a_fence_that_does_not_grow(history):
    history.attempts[0]["fence"] = 2
    finds(history, "I4")


@case
def a_success_that_no_target_saw(history):
    history.effects = [one for one in history.effects if one.run_id != "a-5"]
    finds(history, "I4")


@case
def an_effect_that_the_store_does_not_know(history):
    history.effects.append(Effect("a-5", "ghost", 1, at(5.5), at(5.6)))
    finds(history, "I4")


@case
def a_stale_attempt_gets_in(history):
    history.effects.append(Effect("a-7", "first", 1, at(8), at(8.1)))
    finds(history, "I5")


@case
def a_stale_attempt_that_the_target_refused(history):
    history.effects.append(Effect("a-7", "first", 1, at(8), at(8.1), accepted=False))
    equal(check_history(history), [], "faults")


@case
def a_failure_that_is_retried_too_soon(history):
    history.attempts[0]["outcome"] = "failed"
    finds(history, "I6")


@case
def too_many_attempts(history):
    status = history.runs["a-7"]["status"]
    for fence in range(2, 6):
        history.attempts.append({"run_id": "a-7", "number": fence, "exec_id": f"x{fence}",
                                 "fence": fence, "outcome": "lost", "started_at": text(at(7.1)),
                                 "ended_at": text(at(7.1))})
    status.update(fence=9, attempt=9)
    finds(history, "I6")


@case
def two_runs_of_a_job_at_once(history):
    next(one for one in history.effects if one.run_id == "a-5").ended = at(6.1)
    finds(history, "I8")


@case
def a_child_before_its_parent(history):
    made, effect = fire("b", 1)
    history.runs[made["id"]] = made
    history.effects.append(effect)
    history.ledger = [entry for entry in history.ledger if entry["job_id"] != "b"]
    finds(history, "I9")


@case
def an_end_that_is_forgotten(history):
    history.jobs["c"] = job("c", schedule={"kind": "after", "jobs": ["a"], "on": "success",
                                           "join": "each"})
    for second in range(1, 10):
        if second == 4:
            continue
        made, effect = fire("c", second + 0.3)
        history.runs[made["id"]] = made
        history.effects.append(effect)
    history.ended = at(10)
    # The end of a-10 lies after `ended`; without the fire of one more end the join is short.
    equal(check_history(history), [], "faults")
    del history.runs["c-3.3"]
    history.effects = [one for one in history.effects if one.run_id != "c-3.3"]
    finds(history, "I9")


@case
def durations_as_the_api_writes_them(_):
    equal(seconds("1m30s"), 90.0, "1m30s")
    equal(seconds("500ms"), 0.5, "500ms")
    equal(seconds("2s"), 2.0, "2s")


def main():
    given = arguments("")
    run(given, lambda _: contextlib.nullcontext(sound()))


if __name__ == "__main__":
    main()
