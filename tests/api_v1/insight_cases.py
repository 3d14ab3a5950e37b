#!/usr/bin/env python3
"""Calendars, explain, preview and simulate of the built server. Every answer is compared with the
description.

usage: insight_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import threading
from datetime import timedelta
from urllib.parse import quote

from kit.api_client import Api, run_api_cases
from kit.cases import case
from kit.checks import check, equal
from kit.server import Server
from kit.times import text_of, time_of, utc_now
from kit.waiting import wait_for, wait_until

SECOND = {"kind": "every", "every": "1s", "calendar": "c"}


def days_around(before=1, after=30):
    """A span of dates with today in it, whatever the hour."""
    today = utc_now()
    return f"{today - timedelta(days=before):%Y-%m-%d}/{today + timedelta(days=after):%Y-%m-%d}"


def put(api, calendar, expect=200, name="c", **headers):
    return api.call("PUT", f"/api/v1/calendars/{name}", calendar, expect, **headers)


def explain(api, job, at=None, **more):
    given = {"at": at, **more}
    query = "&".join(f"{name}={quote(value)}" for name, value in given.items() if value)
    return api.call("GET", f"/api/v1/jobs/{job}/explain?{query}")


def is_far(job):
    return time_of(job["next_run_at"]) > utc_now() + timedelta(days=2)


@case
def k22_an_exclusion_is_obeyed_and_accounted_for(api, _, target):
    """K-22: through the API, by the running planner, shown in the ledger."""
    put(api, {}, 201)
    api.create("j", target.url + "/ok/j", schedule=SECOND)
    target.await_calls("/ok/j", 2)
    calendar = put(api, {"exclude": [{"dates": days_around()}]})
    excluded_from = time_of(calendar["updated_at"])
    job = api.await_job("j", is_far, "excluded")
    equal(job["version"], 1, "the definition is what it was")
    check(job["next_run_at"][:10] > days_around()[-10:], f"{job['next_run_at']} is excluded")
    # A fire well inside the exclusion, and its explanation while the exclusion holds.
    made = time_of(job["created_at"])
    number = int((utc_now() - made).total_seconds()) + 2
    inside = made + timedelta(seconds=number)
    told = explain(api, "j", text_of(inside + timedelta(hours=1)), tolerance="0s")
    equal((told["verdict"], told["calendar"]["name"]), ("will_be_skipped", "c"), "to come")
    check(days_around()[:10] in told["calendar"]["rule"], f"no rule: {told}")
    wait_for(lambda: explain(api, "j", text_of(inside), tolerance="0s"),
             lambda told: told["verdict"] == "skipped_calendar", "a fire skipped by the calendar")
    equal(explain(api, "j")["verdict"], "skipped_calendar", "the last one, too")
    nominal = [run["nominal_at"] for run in api.walk("/api/v1/jobs/j/runs?limit=500")]
    late = [at for at in nominal if time_of(at) > excluded_from + timedelta(seconds=1)]
    equal(late, [], "runs of excluded fires")
    # Without the exclusion the job fires again; excluded fires stay excluded in the ledger.
    before = len(target.of("/ok/j"))
    put(api, {})
    target.await_calls("/ok/j", before + 2)
    entries = [entry for entry in api.walk("/api/v1/jobs/j/ledger")
               if entry["fate"] == "skipped_calendar"]
    covered = [entry for entry in entries
               if time_of(entry["first"]) <= inside <= time_of(entry["last"])]
    equal(len(covered), 1, f"accounted for once: {entries}")
    told = explain(api, "j", text_of(inside), tolerance="0s")
    equal(told["verdict"], "skipped_calendar", "still")
    equal(told["ledger"]["fate"], "skipped_calendar", "by the ledger")
    # Every fire since the creation has exactly one entry: a run, or a part of a stretch.
    api.call("POST", "/api/v1/jobs/j/pause")
    until = time_of(api.call("GET", "/api/v1/jobs/j")["planned_until"])
    runs = [time_of(run["nominal_at"]) for run in api.walk("/api/v1/jobs/j/runs?limit=500")]
    counted = sum(entry["count"] for entry in api.walk("/api/v1/jobs/j/ledger"))
    equal(len(runs), len(set(runs)), "no fire twice")
    equal(len(runs) + counted, int((until - made).total_seconds()), "every fire is accounted for")


@case
def a_calendar_lives_and_goes(api, _, __):
    rules = {"description": "days off", "exclude": [{"dates": "2026-10-01/2026-10-07"},
                                                    {"yearly": "12-25"},
                                                    {"weekdays": ["SUN", "SAT"]}],
             "include": [{"dates": "2026-10-03", "from": "22:00", "to": "06:00"}],
             "swaps": [{"date": "2026-10-10", "counts_as": "WED"}]}
    made = put(api, rules, 201)
    equal({name: made[name] for name in rules}, rules, "as it was sent")
    status, headers, shown = api.send("GET", "/api/v1/calendars/c")
    equal((status, shown), (200, made), "the same")
    tag = headers["ETag"]
    equal(api.send("GET", "/api/v1/calendars/c", If_None_Match=tag)[0], 304, "known")
    equal(put(api, shown, If_Match=tag)["version"], 2, "a copy of an answer")
    put(api, rules, 412, If_Match=tag)
    put(api, rules, 412, If_None_Match="*")
    api.create("j", schedule=SECOND, enabled=False)
    refused = api.call("DELETE", "/api/v1/calendars/c", expect=409)
    check("1 job: j" in refused["detail"], refused["detail"])
    api.call("DELETE", "/api/v1/jobs/j", expect=204)
    api.call("DELETE", "/api/v1/calendars/c", expect=204)
    api.call("GET", "/api/v1/calendars/c", expect=404)
    faults = api.call("POST", "/api/v1/jobs", {"name": "x", "http": {"url": "http://127.0.0.1:9/"},
                                               "schedule": SECOND}, 400)
    equal(faults["errors"][0]["pointer"], "/schedule/calendar", "no such calendar")


@case
def calendars_are_listed_page_by_page(api, _, __):
    names = [f"cal-{number}" for number in range(7)] + ["other"]
    for name in names:
        put(api, {"exclude": [{"yearly": "12-25"}]}, 201, name)
    equal([one["name"] for one in api.walk("/api/v1/calendars?limit=3")], names, "all")
    equal([one["name"] for one in api.walk("/api/v1/calendars?limit=3&prefix=cal-")], names[:-1],
          "by prefix")
    api.call("GET", "/api/v1/calendars?q=x", expect=400)


@case
def a_calendar_survives_a_kill(api, server, target):
    """A change just before a kill: the jobs follow it after the start."""
    put(api, {"exclude": [{"dates": days_around()}]}, 201)
    api.create("j", target.url + "/ok/j", schedule=SECOND)
    api.await_job("j", is_far, "excluded")
    put(api, {"exclude": [{"dates": days_around(before=3, after=60)}]})
    server.kill()
    server.start()
    last = days_around(3, 60)[-10:]
    job = api.await_job("j", lambda job: job["next_run_at"][:10] > last, "right")
    put(api, {})
    target.await_calls("/ok/j")
    equal(job["version"], 1, "the definition is what it was")


@case
def another_node_follows(api, server, target):
    """A change through one node holds for the other, too. Not all stores allow a second node."""
    put(api, {}, 201)
    shared = server.store.startswith("postgresql")
    other = server
    if shared:
        other = Server(server.binary, server.store, environment=server.environment)
    try:
        if shared:
            other.environment["DATA_DIR"] = other.folder
            other.start()
        mine = Api(other, api.description)
        mine.create("j", target.url + "/ok/j", schedule=SECOND)     # known there at once
        target.await_calls("/ok/j")
        put(api, {"exclude": [{"dates": days_around()}]})
        mine.await_job("j", is_far, "excluded")
        # Either node may plan by the old rules until both know the change.
        fire = text_of(utc_now() + timedelta(hours=1))
        wait_until(lambda: explain(mine, "j", fire)["verdict"] == "will_be_skipped",
                   "the other node to learn of the exclusion")
        put(mine, {})
        before = len(target.of("/ok/j"))
        target.await_calls("/ok/j", before + 2)
        nominal = [run["nominal_at"] for run in api.walk("/api/v1/jobs/j/runs?limit=500")]
        equal(len(nominal), len(set(nominal)), "no fire twice")
    finally:
        if shared:
            other.close()


@case
def days_are_imported(api, _, __):
    ics = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20261001\r\n"
           "DTEND;VALUE=DATE:20261008\r\nSUMMARY:Golden\r\n  Week\r\nEND:VEVENT\r\n"
           "BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20201225\r\nRRULE:FREQ=YEARLY\r\nEND:VEVENT\r\n"
           "BEGIN:VEVENT\r\nDTSTART:20261001T090000Z\r\nDTEND:20261001T100000Z\r\nEND:VEVENT\r\n"
           "END:VCALENDAR\r\n")
    path = "/api/v1/calendars/c/import"
    asked = api.call("POST", path, {"format": "ics", "text": ics, "dry_run": True})
    equal((asked["added"], asked["stored"], asked["calendar"]["version"]), (2, False, 0), "asked")
    api.call("GET", "/api/v1/calendars/c", expect=404)
    made = api.call("POST", path, {"format": "ics", "text": ics})
    equal(made["calendar"]["exclude"], [{"dates": "2026-10-01/2026-10-07"}, {"yearly": "12-25"}],
          "rules")
    equal([one["line"] for one in made["skipped"]], [13], "skipped")
    csv = "date,end,name\n2026-10-01,2026-10-07,same\n2027-01-01,,New Year\n01/02/2027\n"
    merged = api.call("POST", path, {"format": "csv", "text": csv})
    equal((merged["added"], merged["removed"], len(merged["skipped"])), (1, 0, 1), "merged")
    replaced = api.call("POST", path, {"format": "csv", "text": csv, "mode": "replace"})
    equal((replaced["added"], replaced["removed"]), (0, 1), "replaced")
    equal(replaced["calendar"], api.call("GET", "/api/v1/calendars/c"), "stored")
    refused = api.call("POST", path, {"format": "csv", "text": "nothing"}, 400)
    equal(refused["errors"][0]["pointer"], "/text", "named")
    many = {"format": "csv", "text": "2026-01-01\n" * 10001}
    equal(api.call("POST", path, many, 400)["errors"][0]["code"], "out_of_range", "too many")
    api.call("POST", path, {"format": "csv", "text": "2026-01-01\n" * 100000}, 413)
    again = [api.send("POST", path, {"format": "csv", "text": "2028-01-01"}, Idempotency_Key="k")
             for _ in range(2)]
    equal(again[0][2], again[1][2], "replayed")


@case
def the_effect_is_shown_before_it_is_saved(api, _, __):
    put(api, {}, 201)
    api.create("j", schedule={"kind": "cron", "cron": "0 12 * * *", "calendar": "c"})
    wish = {"calendar": {"name": "c", "exclude": [{"weekdays": ["SAT", "SUN"]}]},
            "from": "2026-03-02T00:00:00Z", "days": 14}
    effect = api.call("POST", "/api/v1/calendars/preview", wish)
    equal(effect["jobs"], [{"id": "j", "fires": 10, "taken_away": 4, "added": 0, "complete": True,
                            "first_taken_away": ["2026-03-07T12:00:00Z", "2026-03-08T12:00:00Z",
                                                 "2026-03-14T12:00:00Z", "2026-03-15T12:00:00Z"]}],
          "jobs")
    equal(effect["days_off"], ["2026-03-07", "2026-03-08", "2026-03-14", "2026-03-15"], "days")
    equal(api.call("GET", "/api/v1/calendars/c")["exclude"], [], "nothing was stored")
    preview = api.call("POST", "/api/v1/preview", {"schedule": SECOND, "count": 3})
    equal(len(preview["fires"]), 3, "fires")


@case
def fates_are_explained(api, _, target):
    api.create("ran", target.url + "/ok/ran", schedule={"kind": "every", "every": "1s"})
    target.await_calls("/ok/ran", 2)
    job = api.call("GET", "/api/v1/jobs/ran")
    fire = text_of(time_of(job["created_at"]) + timedelta(seconds=1))
    told = wait_for(lambda: explain(api, "ran", fire, tolerance="0s"),
                    lambda told: told["verdict"] in ("ran", "ran_late") and
                    told["run"]["state"] == "succeeded", "the explanation of a run that succeeded")
    check("run" in told and "fire" in told, f"facts: {told}")
    half = text_of(time_of(fire) + timedelta(milliseconds=500))
    told = explain(api, "ran", half, tolerance="0s")
    equal((told["verdict"], told["reason"]), ("not_a_fire", "off_schedule"), "between two")
    equal(told["before"]["at"], time_text(fire), "the one before")
    api.call("POST", "/api/v1/jobs/ran/pause", {"reason": "the target moves"})
    paused = time_of(api.call("GET", "/api/v1/jobs/ran")["updated_at"])
    seconds = int((paused - time_of(job["created_at"])).total_seconds()) + 1
    skipped = text_of(time_of(job["created_at"]) + timedelta(seconds=seconds))
    told = wait_for(lambda: explain(api, "ran", skipped, tolerance="0s"),
                    lambda told: told["verdict"] == "skipped_paused", "a fire skipped by the pause")
    equal(told["actor"]["reason"], "the target moves", "why")
    api.call("GET", "/api/v1/jobs/none/explain", expect=404)


def time_text(text):
    """As the server writes it."""
    return text.replace(".000000Z", "Z")


@case
def one_simulation_at_a_time(api, server, _):
    """A long simulation does not block reads; a second one is refused with Retry-After."""
    jobs = [{"id": f"s{number}", "name": "s", "http": {"url": "http://127.0.0.1:9/"},
             "schedule": {"kind": "cron", "cron": "* * * * *", "zone": "Europe/Paris"}}
            for number in range(40)]
    march = {"from": "2026-03-01T00:00:00Z", "to": "2026-04-01T00:00:00Z", "changes": jobs}
    seen = set()

    def simulate():
        mine = Api(server, api.description)
        status, headers, content = mine.send("POST", "/api/v1/simulate", {**march, "slots": 20})
        seen.add((status, headers.get("Retry-After"), content.get("totals", {}).get("fires")))

    def one_was_refused():
        threads = [threading.Thread(target=simulate) for _ in range(3)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            api.call("GET", "/api/v1/jobs")
        for thread in threads:
            thread.join()
        return (429, "1", None) in seen

    wait_until(one_was_refused, lambda: f"a refused simulation; answers: {seen}")
    equal(seen - {(429, "1", None)}, {(200, None, 40 * 31 * 24 * 60)}, "answers")
    api.create("s0", schedule={"kind": "cron", "cron": "0 * * * *"})
    wish = {**march, "changes": [], "durations": {"s0": "90m"}}
    month = api.call("POST", "/api/v1/simulate", wish)
    equal((month["jobs"], month["totals"]["fires"]), (1, 31 * 24), "stored ones")
    equal(month["totals"]["skipped"], 31 * 12, "each second one overlaps")


if __name__ == "__main__":
    run_api_cases()
