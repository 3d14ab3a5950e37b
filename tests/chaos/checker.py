"""Judges a run of the chaos suite: joins what the store holds with what the targets saw.

A History is plain data, so that checker_test.py can plant faults in it. check_history() returns one
text for each violated invariant (I1 to I9 of the reliability notes, and I3 for what was
acknowledged); an empty list means that all of them held.
"""
import collections
import dataclasses
from datetime import datetime, timedelta, timezone

FINAL = {"succeeded", "failed", "timed_out", "cancelled", "resolved", "skipped", "missed"}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclasses.dataclass
class Effect:
    """One attempt as its target saw it. `ended` is None if the target saw no end."""
    run_id: str
    exec_id: str
    fence: int
    begun: datetime
    ended: datetime = None
    accepted: bool = True       # False: the target refused it, because it knew a newer fence


@dataclasses.dataclass
class History:
    jobs: dict          # id: the job as the store exports it
    runs: dict          # id: the run as the store exports it
    attempts: list      # earlier attempts as the store exports them
    ledger: list        # entries as the store exports them
    effects: list       # Effect, in the order in which the target saw them
    acknowledged: set   # ids of runs that a server has acknowledged
    started: datetime = None    # slots from here on must be accounted for
    ended: datetime = None      # and up to here


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def seconds(text):
    """Returns the seconds of a duration such as 1m30s or 500ms."""
    total, number = 0.0, ""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001, "us": 0.000001}
    place = 0
    while place < len(text):
        if text[place] in "0123456789.":
            number += text[place]
            place += 1
            continue
        unit = text[place:place + 2] if text[place:place + 2] in units else text[place]
        total += float(number) * units[unit]
        number = ""
        place += len(unit)
    return total


def slots_between(job, first, last):
    """Returns the nominal times of an `every` job in (first, last]."""
    every = timedelta(seconds=seconds(job["schedule"]["every"]))
    origin = instant(job["schedule"]["start_at"])
    number = (first - origin) // every + 1
    slots = []
    while origin + number * every <= last:
        slots.append(origin + number * every)
        number += 1
    return slots


def attempts_of(history):
    """Returns all attempts of each run, in order, the current one included."""
    by_run = collections.defaultdict(list)
    for attempt in history.attempts:
        by_run[attempt["run_id"]].append(attempt)
    for run_id, run in history.runs.items():
        status = run["status"]
        if status.get("attempt", 0) > 0:
            by_run[run_id].append({"run_id": run_id, "number": status["attempt"],
                                   "exec_id": status["exec_id"], "fence": status["fence"],
                                   "outcome": status.get("outcome"),
                                   "started_at": status.get("started_at"),
                                   "ended_at": status.get("ended_at")})
    for attempts in by_run.values():
        attempts.sort(key=lambda attempt: attempt["fence"])
    return by_run


def check_slots(history):
    """I1, I2, I16: every slot of every job has exactly one run or ledger entry."""
    found = []
    counted = collections.defaultdict(collections.Counter)
    for run in history.runs.values():
        if run.get("nominal_at"):
            counted[run["job_id"]][instant(run["nominal_at"])] += 1
    for entry in history.ledger:
        job = history.jobs.get(entry["job_id"])
        if job is None or job["schedule"]["kind"] != "every":
            continue
        first, last = instant(entry["first"]), instant(entry["last"])
        inside = slots_between(job, first - timedelta(microseconds=1), last)
        if len(inside) != entry.get("count", 1):
            found.append(f"I1: the ledger counts {entry.get('count', 1)} fires of {job['id']} from "
                         f"{first} to {last}, the schedule has {len(inside)}")
        for slot in inside:
            counted[job["id"]][slot] += 1
    for job_id, job in history.jobs.items():
        if job["schedule"]["kind"] != "every":
            continue
        begin = max(history.started, instant(job["created_at"]))
        for slot in slots_between(job, begin, history.ended):
            number = counted[job_id][slot]
            if number == 0:
                found.append(f"I1: the fire of {job_id} at {slot} is accounted for nowhere")
            if number > 1:
                found.append(f"I2: the fire of {job_id} at {slot} is there {number} times")
        strays = set(counted[job_id]) - set(slots_between(job, begin, history.ended))
        for slot in sorted(strays):
            if begin < slot <= history.ended:
                found.append(f"I1: {job_id} has no fire at {slot}, but the store has one")
    return found


def check_acknowledged(history):
    """I3: what a server acknowledged is there, and has ended."""
    found = []
    for run_id in history.acknowledged:
        run = history.runs.get(run_id)
        if run is None:
            found.append(f"I3: the acknowledged run {run_id} is gone")
    for run_id, run in history.runs.items():
        if run["status"]["state"] not in FINAL:
            found.append(f"I7: the run {run_id} is still {run['status']['state']}, of "
                         f"{run['status'].get('owner', '')}")
    return found


def check_attempts(history):
    """I4, I6: fences grow, at most one report is accepted, attempts are bounded, retries wait."""
    found = []
    for run_id, attempts in attempts_of(history).items():
        run = history.runs.get(run_id)
        if run is None:
            found.append(f"I4: an attempt of {run_id}, which is not there")
            continue
        fences = [attempt["fence"] for attempt in attempts]
        if len(set(fences)) != len(fences):
            found.append(f"I4: the fences of {run_id} do not grow: {fences}")
        if len({attempt["exec_id"] for attempt in attempts}) != len(attempts):
            found.append(f"I4: two attempts of {run_id} share an exec_id")
        successes = [attempt for attempt in attempts if attempt["outcome"] == "succeeded"]
        if len(successes) > 1:
            found.append(f"I4: {len(successes)} reports of {run_id} were accepted")
        if run["status"]["state"] == "succeeded" and len(successes) != 1:
            found.append(f"I4: {run_id} succeeded without an accepted report")
        retry = run["policy"].get("retry", {})
        most = retry.get("max_retries", 3)
        counted = [one for one in attempts if one["outcome"] in ("failed", "timed_out", "lost")]
        if len(counted) > most + 1:
            found.append(f"I6: {run_id} failed {len(counted)} times, its policy allows {most + 1}")
        found += check_backoff(run_id, attempts, seconds(retry.get("interval", "5s")))
    return found


def check_backoff(run_id, attempts, interval):
    """A failed attempt is retried after its interval; a lost one at once."""
    found = []
    for earlier, later in zip(attempts, attempts[1:]):
        if earlier["outcome"] not in ("failed", "timed_out") or not later.get("started_at"):
            continue
        waited = (instant(later["started_at"]) - instant(earlier["ended_at"])).total_seconds()
        if waited < interval - 0.001:
            found.append(f"I6: {run_id} was tried again after {waited:.3f} s, not {interval} s")
    return found


def check_effects(history):
    """I4, I5: the target's view agrees with the store's, and no stale attempt gets in."""
    found = []
    known = {}
    for run_id, attempts in attempts_of(history).items():
        for attempt in attempts:
            known[attempt["exec_id"]] = (run_id, attempt)
    newest = {}
    for effect in history.effects:
        entry = known.get(effect.exec_id)
        if entry is None or entry[0] != effect.run_id:
            found.append(f"I4: the target saw attempt {effect.exec_id} of {effect.run_id}, which "
                         "the store does not know")
        if effect.accepted and effect.fence < newest.get(effect.run_id, 0):
            found.append(f"I5: the target took fence {effect.fence} of {effect.run_id} after "
                         f"{newest[effect.run_id]}")
        newest[effect.run_id] = max(effect.fence, newest.get(effect.run_id, 0))
    seen = {effect.exec_id for effect in history.effects}
    for exec_id, (run_id, attempt) in known.items():
        if attempt["outcome"] == "succeeded" and exec_id not in seen:
            found.append(f"I4: {run_id} succeeded in attempt {exec_id}, which no target saw")
    return found


def check_overlap(history):
    """I8: accepted attempts of a job that does not allow overlap do not overlap."""
    found = []
    accepted = {attempt["exec_id"] for attempts in attempts_of(history).values()
                for attempt in attempts if attempt["outcome"] == "succeeded"}
    by_job = collections.defaultdict(list)
    for effect in history.effects:
        run = history.runs.get(effect.run_id)
        if run is None or effect.exec_id not in accepted or effect.ended is None:
            continue
        if run.get("job_id") and run["policy"].get("overlap", "skip") != "allow":
            by_job[run["job_id"]].append(effect)
    for job_id, effects in by_job.items():
        effects.sort(key=lambda effect: effect.begun)
        for earlier, later in zip(effects, effects[1:]):
            if later.begun < earlier.ended and later.run_id != earlier.run_id:
                found.append(f"I8: the runs {earlier.run_id} and {later.run_id} of {job_id} "
                             "overlapped")
    return found


def check_dependencies(history):
    """I9: no run of a job started before the success of each job that it depends on, and none of
    the ends that a job runs after is forgotten."""
    found = []
    ended = collections.defaultdict(list)       # job: (finished_at, state), in order
    for run in history.runs.values():
        status = run["status"]
        if status.get("finished_at") and status["state"] not in ("skipped", "missed"):
            ended[run.get("job_id", "")].append((instant(status["finished_at"]), status["state"]))
    for ends in ended.values():
        ends.sort()
    started = collections.defaultdict(list)     # job: the first start of each run
    for run_id, attempts in attempts_of(history).items():
        run = history.runs.get(run_id)
        if run is not None and run.get("nominal_at") and attempts[0].get("started_at"):
            started[run["job_id"]].append((instant(attempts[0]["started_at"]), run_id))
    for job_id, job in history.jobs.items():
        for dependency in job.get("depends_on", []):
            if dependency.get("on_failure", "skip") == "run":
                continue
            for at, run_id in started[job_id]:
                before = [state for when, state in ended[dependency["job"]] if when <= at]
                if "succeeded" not in before:
                    found.append(f"I9: {run_id} of {job_id} started before {dependency['job']} "
                                 "had succeeded")
        if job["schedule"]["kind"] == "after" and job["schedule"].get("join", "all") == "each":
            found += check_after(history, job, ended)
    return found


def check_after(history, job, ended):
    """A job that runs after each end of others has one fire for each of them."""
    wanted = {"success": {"succeeded"}, "failure": {"failed", "timed_out"}}
    states = wanted.get(job["schedule"].get("on", "success"), FINAL)
    begin = max(history.started, instant(job["created_at"]))
    ends = sum(1 for upstream in job["schedule"]["jobs"] for when, state in ended[upstream]
               if state in states and begin < when <= history.ended)
    fires = sum(1 for run in history.runs.values()
                if run.get("job_id") == job["id"] and run.get("nominal_at")
                and begin < instant(run["nominal_at"]) <= history.ended)
    fires += sum(entry.get("count", 1) for entry in history.ledger
                 if entry["job_id"] == job["id"]
                 and begin < instant(entry["first"]) <= history.ended)
    if fires == ends:
        return []
    return [f"I9: {job['id']} fired {fires} times after {ends} ends"]


def check_history(history):
    return (check_slots(history) + check_acknowledged(history) + check_attempts(history) +
            check_effects(history) + check_overlap(history) + check_dependencies(history))
