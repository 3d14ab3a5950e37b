#!/usr/bin/env python3
"""Every behaviour of document K: the built server, and a target that records its calls.

usage: k_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import json
import os
from datetime import timedelta

from kit.cases import arguments, case
from kit.checks import check, equal
from kit.places import run_on_store
from kit.times import after, text_of, time_of, utc_now
from kit.waiting import let_pass, stays_so, wait_for, wait_until


def http_job(url, method="GET", **more):
    return {"method": method, "url": url, **more}


def every(duration, **more):
    return {"kind": "every", "every": duration, **more}


def once(run_at):
    return {"kind": "once", "run_at": run_at}


# Seconds. Far enough ahead that a slow machine is not late, near enough to wait for.
SOON = 0.4


@case
def k01_calls_with_method_headers_and_body(server, target):
    """K-01"""
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"):
        path = f"/ok/{method}"
        body = "free text, nothing more" if method in ("POST", "PUT", "PATCH") else ""
        server.create(id=f"k01-{method}", schedule=once(after(SOON)),
                      http=http_job(target.url + path, method, headers={"X-Token": "abc"},
                                    body=body))
        call, = target.await_calls(path)
        equal(call.method, method, "method")
        equal(call.headers["X-Token"], "abc", "header")
        equal(call.body, body, "body")
        server.await_status(f"k01-{method}", "success")


@case
def k02_once_fires_at_its_time_and_an_expired_one_is_missed(server, target):
    """K-02"""
    run_at = utc_now() + timedelta(seconds=SOON)
    server.create(id="k02", schedule=once(text_of(run_at)), http=http_job(target.url + "/ok/k02"))
    call, = target.await_calls("/ok/k02")
    check(call.at >= run_at, "before its time")
    done = server.await_status("k02", "success")
    equal(done["next_run_at"], "", "a once that is over has no next run")
    late = server.create(id="k02-late", schedule=once(after(-3600)),
                         http=http_job(target.url + "/ok/k02-late"))
    equal(late["last_status"], "missed", "last_status")
    equal(late["next_run_at"], "", "next_run_at")
    equal(target.of("/ok/k02-late"), [], "never run")


@case
def k02_once_that_expires_while_the_server_is_down_is_missed(server, target):
    """K-02"""
    run_at = utc_now() + timedelta(seconds=0.3)
    server.create(id="k02-down", schedule=once(text_of(run_at)), misfire={"grace": "1ms"},
                  http=http_job(target.url + "/ok/k02-down"))
    server.create(id="k02-up", schedule=once(after(3600)), http=http_job(target.url + "/ok/no"))
    server.kill()
    wait_until(lambda: utc_now() > run_at + timedelta(seconds=0.2), "the time of the job to pass")
    server.start()
    if not target.of("/ok/k02-down"):
        server.await_status("k02-down", "missed")
    equal(server.job("k02-up")["last_status"], "", "the other one waits")


@case
def k03_every_keeps_its_grid(server, target):
    """K-03: no drift, however long a run takes"""
    start = utc_now() + timedelta(seconds=SOON)
    server.create(id="k03", schedule=every("400ms", start_at=text_of(start)),
                  http=http_job(target.url + "/slow/0.1"))
    calls = target.await_calls("/slow/0.1", 4)
    for number, call in enumerate(calls[:4]):
        nominal = time_of(call.headers["Ksana-Scheduled-At"])
        offset = (nominal - start).total_seconds()
        check(abs(offset - 0.4 * round(offset / 0.4)) < 1e-4, f"call {number} is off the grid")
    job = server.job("k03")
    offset = (time_of(job["next_run_at"]) - start).total_seconds()
    check(abs(offset - 0.4 * round(offset / 0.4)) < 1e-4, "next_run_at is off the grid")
    plain = server.create(id="k03-plain", schedule=every("1h"), http=http_job(target.url + "/ok/1"))
    ahead = time_of(plain["next_run_at"]) - utc_now()
    check(timedelta(minutes=59) < ahead <= timedelta(hours=1), "from creation")


@case
def k04_jitter_leaves_the_grid_alone(server, target):
    """K-04"""
    start = utc_now() + timedelta(seconds=SOON)
    server.create(id="k04", schedule=every("500ms", start_at=text_of(start), jitter="200ms"),
                  http=http_job(target.url + "/ok/k04"))
    for call in target.await_calls("/ok/k04", 3):
        nominal = time_of(call.headers["Ksana-Scheduled-At"])
        offset = (nominal - start).total_seconds()
        check(abs(offset - 0.5 * round(offset / 0.5)) < 1e-4, "the grid has moved")
        check(call.at >= nominal, "before its nominal time")


@case
def k05_a_restart_goes_straight_to_the_next_fire(server, target):
    """K-05"""
    start = utc_now() - timedelta(hours=1)
    server.create(id="k05", schedule=every("250ms", start_at=text_of(start)),
                  http=http_job(target.url + "/ok/k05"))
    target.await_calls("/ok/k05")
    server.kill()
    before = len(target.of("/ok/k05"))
    down = utc_now()
    let_pass(1.5, "several fires pass, and the server must not make up for them")
    server.start()
    up = utc_now()
    calls = target.await_calls("/ok/k05", before + 2)[before:]
    for call in calls:
        nominal = time_of(call.headers["Ksana-Scheduled-At"])
        missed = down + timedelta(seconds=0.2) < nominal < up - timedelta(seconds=6)
        check(not missed, "a fire of the past was made up for")


@case
def k06_run_now_leaves_the_cadence_alone(server, target):
    """K-06"""
    made = server.create(id="k06", schedule=every("1h"), http=http_job(target.url + "/hang/k06"),
                         timeout="20s")
    first = server.call("POST", "/jobs/k06/run-now", expect=202)
    target.await_calls("/hang/k06")
    second = server.call("POST", "/jobs/k06/run-now", {"who": "me"}, 202)
    check(first["run_id"] != second["run_id"], "two runs")
    target.await_calls("/hang/k06", 2)  # while the first is in progress
    equal(server.job("k06")["next_run_at"], made["next_run_at"], "next_run_at")
    target.released.set()
    server.await_status("k06", "success")
    target.released.clear()
    server.call("POST", "/jobs/none/run-now", expect=404)


@case
def k07_pause_and_resume(server, target):
    """K-07"""
    server.create(id="k07", schedule=every("200ms"), http=http_job(target.url + "/ok/k07"))
    target.await_calls("/ok/k07")
    paused = server.call("POST", "/jobs/k07/pause")
    equal(paused["enabled"], False, "enabled")
    equal(paused["last_status"], "paused", "last_status")
    equal(paused["next_run_at"], "", "next_run_at")
    let_pass(0.3, "a call that was under way may still arrive, or not")
    count = len(target.of("/ok/k07"))
    stays_so(lambda: len(target.of("/ok/k07")) == count, "no call while paused", during=0.7)
    resumed = server.call("POST", "/jobs/k07/resume")
    equal(resumed["enabled"], True, "enabled")
    target.await_calls("/ok/k07", count + 1)


@case
def k08_policies_of_the_job_and_of_the_server(server, target):
    """K-08"""
    plain = server.create(id="k08", schedule=once(after(3600)), http=http_job(target.url + "/ok"))
    equal((plain["timeout"], plain["max_retries"], plain["retry_backoff"]), ("10s", 2, "100ms"),
          "what the server was told")
    own = server.create(id="k08-own", schedule=once(after(SOON)), timeout="150ms", max_retries=1,
                        retry_backoff="50ms", http=http_job(target.url + "/hang/k08"))
    equal((own["timeout"], own["max_retries"], own["retry_backoff"]), ("150ms", 1, "50ms"), "own")
    target.await_calls("/hang/k08", 2)
    server.await_status("k08-own", "timeout")
    equal(len(target.of("/hang/k08")), 2, "one retry")


@case
def k09_what_an_answer_means(server, target):
    """K-09"""
    for status in (200, 204, 299):
        server.create(id=f"k09-{status}", schedule=once(after(0.1)),
                      http=http_job(f"{target.url}/status/{status}"))
        server.await_status(f"k09-{status}", "success")
    for status in (408, 429, 500, 503):
        server.create(id=f"k09-{status}", schedule=once(after(0.1)),
                      http=http_job(f"{target.url}/status/{status}"))
        job = server.await_status(f"k09-{status}", "failed")
        check(str(status) in job["last_error"], job["last_error"])
        equal(len(target.of(f"/status/{status}")), 3, f"calls of {status}: two retries")
    for status in (301, 400, 404, 410):
        server.create(id=f"k09-{status}", schedule=once(after(0.1)),
                      http=http_job(f"{target.url}/status/{status}"))
        server.await_status(f"k09-{status}", "failed")
        equal(len(target.of(f"/status/{status}")), 1, f"calls of {status}: permanent")
    server.create(id="k09-refused", schedule=once(after(0.1)), http=http_job("http://127.0.0.1:1/"))
    job = server.await_status("k09-refused", "failed")
    check("refused" in job["last_error"], job["last_error"])
    server.create(id="k09-flaky", schedule=once(after(0.1)), http=http_job(target.url + "/flaky/2"))
    server.await_status("k09-flaky", "success")
    equal(len(target.of("/flaky/2")), 3, "calls")


@case
def k09_retry_after_is_obeyed(server, target):
    """K-09"""
    server.create(id="k09-later", schedule=once(after(0.1)), http=http_job(target.url + "/later/1"))
    first, second = target.await_calls("/later/1", 2)
    check(second.at - first.at >= timedelta(seconds=0.95), "too early")


@case
def k10_the_run_id_and_what_is_filled_in(server, target):
    """K-10"""
    body = {"job_id": "<filled-by-service>", "run_id": "<filled-by-service>",
            "scheduled_at": "<filled-by-service>", "triggered_at": "<filled-by-service>",
            "note": "<filled-by-service>", "deep": [{"run_id": "<filled-by-service>"}]}
    run_at = after(SOON)
    server.create(id="k10", schedule=once(run_at),
                  http=http_job(target.url + "/ok/k10?job={{job_id}}&try={{attempt}}", "POST",
                                headers={"X-Run": "{{run_id}}"}, body=json.dumps(body)))
    first, = target.await_calls("/ok/k10?job=k10&try=1")
    run_id = first.headers["X-Ksana-Run-Id"]
    equal(first.headers["X-Run"], run_id, "template in a header")
    sent = first.json()
    equal((sent["job_id"], sent["run_id"], sent["deep"][0]["run_id"]), ("k10", run_id, run_id),
          "filled in")
    equal(time_of(sent["scheduled_at"]), time_of(run_at), "scheduled_at")
    check(time_of(sent["triggered_at"]) >= time_of(run_at), "triggered_at")
    equal(sent["note"], "<filled-by-service>", "not one of ours")


@case
def k10_retries_carry_the_same_run_id(server, target):
    """K-10"""
    server.create(id="k10-same", schedule=once(after(0.1)), http=http_job(target.url + "/flaky/2"))
    calls = target.await_calls("/flaky/2", 3)
    equal(len({call.headers["X-Ksana-Run-Id"] for call in calls}), 1, "run ids")
    equal([call.headers["Ksana-Attempt"] for call in calls], ["1", "2", "3"], "attempts")
    equal(len({call.headers["Ksana-Exec-Id"] for call in calls}), 3, "exec ids")


@case
def k11_the_json_file_has_the_documented_shape(server, target):
    """K-11"""
    if server.store != "json":
        return
    server.create(id="k11", schedule=every("5m", jitter="5s"), http=http_job(target.url + "/ok"))
    with open(os.path.join(server.folder, "data", "jobs.json"), encoding="utf-8") as file:
        content = json.load(file)
    equal(sorted(content), ["jobs", "updated_at", "version"], "members")
    job, = [job for job in content["jobs"] if job["id"] == "k11"]
    for key in ("id", "name", "enabled", "type", "http", "schedule", "last_run_at", "next_run_at",
                "last_status", "last_error"):
        check(key in job, f"{key} is missing")


@case
def k12_a_broken_file_is_put_aside(server, target):
    """K-12"""
    if server.store != "json":
        return
    server.create(id="k12", schedule=every("5m"), http=http_job(target.url + "/ok"))
    server.stop()
    data = os.path.join(server.folder, "data")
    with open(os.path.join(data, "jobs.json"), "w", encoding="utf-8") as file:
        file.write('{"version": 1, "jobs": [')
    server.start()
    equal(server.call("GET", "/jobs"), [], "jobs")
    check(any(name.startswith("jobs.bad") for name in os.listdir(data)), "nothing was kept")
    check("jobs.bad" in server.log(), "the log says nothing")


@case
def k14_the_routes(server, target):
    """K-14"""
    job = server.create(schedule=every("1h"), http=http_job(target.url + "/ok"), name="routes")
    check(job["id"], "an id was made")
    path = f"/jobs/{job['id']}"
    equal(server.call("GET", path), job, "GET")
    check(job in server.call("GET", "/jobs"), "GET /jobs")
    changed = server.call("PATCH", path, {"name": "other", "schedule": {"every": "2h"}})
    equal((changed["name"], changed["schedule"]["every"]), ("other", "2h"), "PATCH")
    equal(server.request("DELETE", path)[0], 204, "DELETE")
    for method, where in (("GET", path), ("PATCH", path), ("DELETE", path),
                          ("POST", path + "/pause"), ("POST", path + "/resume")):
        status, _, problem = server.request(method, where, "{}" if method == "PATCH" else None)
        equal(status, 404, f"{method} of what is not there")
        equal(problem["code"], "not_found", "code")
    equal(server.call("GET", "/health"), {"status": "ok"}, "health")
    equal(server.request("PUT", "/jobs")[0], 405, "PUT /jobs")
    equal(server.request("GET", "/nothing")[0], 404, "unknown path")
    for probe in ("/livez", "/readyz", "/readyz?verbose"):
        equal(server.request("GET", probe)[0], 200, probe)


@case
def k14_an_id_is_taken_once(server, target):
    """K-14"""
    job = {"id": "twice", "name": "n", "type": "http", "schedule": every("1h"),
           "http": http_job(target.url)}
    server.call("POST", "/jobs", job, 201)
    equal(server.request("POST", "/jobs", job)[0], 409, "second time")


@case
def k15_durations_and_times(server, target):
    """K-15"""
    job = server.create(id="k15", schedule=every("1h30m", start_at="2030-01-01T02:00:00+02:00"),
                        timeout="250ms", http=http_job(target.url))
    equal(job["schedule"]["every"], "1h30m", "every")
    equal(job["schedule"]["start_at"], "2030-01-01T00:00:00Z", "start_at")
    equal(job["timeout"], "250ms", "timeout")
    equal(job["next_run_at"], "2030-01-01T00:00:00Z", "next_run_at")


@case
def k16_bookkeeping(server, target):
    """K-16"""
    server.create(id="k16", schedule=once(after(SOON)), http=http_job(target.url + "/status/404"))
    job = server.await_status("k16", "failed")
    check(job["last_run_at"] and job["last_error"], job)
    server.create(id="k16-skip", schedule=every("200ms"), timeout="5s",
                  http=http_job(target.url + "/hang/k16"))
    target.await_calls("/hang/k16")
    server.await_status("k16-skip", "skipped")
    target.released.set()
    server.call("POST", "/jobs/k16-skip/pause")
    target.released.clear()


@case
def k18_a_stop_lets_calls_finish(server, target):
    """K-18"""
    server.create(id="k18", schedule=once(after(0.1)), http=http_job(target.url + "/slow/0.7"))
    target.await_calls("/slow/0.7")
    equal(server.stop(), 0, "exit code")
    server.start()
    server.await_status("k18", "success")
    equal(len(target.of("/slow/0.7")), 1, "calls")


@case
def k18_what_does_not_finish_is_given_back(server, target):
    """K-18: and uses up no attempt"""
    server.environment["KSANA_SHUTDOWN_TIMEOUT"] = "200ms"
    server.stop()
    server.start()
    server.create(id="k18-back", schedule=once(after(0.1)), max_retries=0, timeout="20s",
                  http=http_job(target.url + "/hang/k18"))
    target.await_calls("/hang/k18")
    equal(server.stop(), 0, "exit code")
    target.released.set()
    server.start()
    target.await_calls("/hang/k18", 2)
    server.await_status("k18-back", "success")
    target.released.clear()


@case
def k19_log_lines(server, target):
    """K-19"""
    server.create(id="k19", name="log me", schedule=once(after(0.1)),
                  http=http_job(target.url + "/status/404"))
    server.await_status("k19", "failed")
    line = server.await_line("job_id=k19")
    for part in ('name="log me"', "status=", "latency_ms=", "error=", "Z "):
        check(part in line, f"{part} is not in {line}")


@case
def k20_bad_input_is_named_and_changes_nothing(server, target):
    """K-20"""
    before = server.call("GET", "/jobs")
    good = {"name": "n", "type": "http", "http": http_job(target.url), "schedule": every("1h")}
    for change, pointer in (
            ({"http": http_job("not a url")}, "/http/url"),
            ({"http": http_job("ftp://x/")}, "/http/url"),
            ({"http": http_job(target.url, "FETCH")}, "/http/method"),
            ({"schedule": every("soon")}, "/schedule/every"),
            ({"schedule": every("-1s")}, "/schedule/every"),
            ({"schedule": once("tomorrow")}, "/schedule/run_at"),
            ({"schedule": {"kind": "often"}}, "/schedule/kind"),
            ({"schedule": {"kind": "cron", "cron": "61 * * * *"}}, "/schedule/cron"),
            ({"timeout": "0s"}, "/timeout"),
            ({"max_retries": -1}, "/retry/max_retries"),
            ({"type": "carrier-pigeon"}, "/type"),
            ({"shedule": {}}, "/shedule")):
        status, headers, problem = server.request("POST", "/jobs", {**good, **change})
        equal(status, 400, f"{change}: {problem}")
        equal(headers["Content-Type"], "application/problem+json", "type")
        pointers = [error["pointer"] for error in problem["errors"]]
        check(any(p.startswith(pointer) for p in pointers), f"{change}: {problem}")
        check(all(error["detail"] for error in problem["errors"]), "reasons")
    for body in ("", "{", "[]", '"text"', "{" * 100000, "nul\0"):
        status, _, problem = server.request("POST", "/jobs", body)
        equal(status, 400, f"{body[:20]!r}: {problem}")
    equal(server.call("GET", "/jobs"), before, "jobs")


@case
def k22_cron_fires(server, target):
    """K-22, the part about expressions"""
    server.create(id="k22", schedule={"kind": "cron", "cron": "* * * * * *"},
                  http=http_job(target.url + "/ok/k22"))
    first, second = target.await_calls("/ok/k22", 2)[:2]
    nominals = [time_of(call.headers["Ksana-Scheduled-At"]) for call in (first, second)]
    check(all(nominal.microsecond == 0 for nominal in nominals), "whole seconds")


@case
def k23_metrics_tell_what_happened(server, target):
    """K-23, the part about /metrics"""
    server.create(id="k23", schedule=once(after(0.1)), http=http_job(target.url + "/ok/k23"))
    server.await_status("k23", "success")

    def metrics():
        status, headers, text = server.request("GET", "/metrics")
        equal(status, 200, "status")
        check(headers["Content-Type"].startswith("text/plain; version=0.0.4"), headers)
        return text, {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
                      for line in text.splitlines() if not line.startswith("#")}

    # The server counts an attempt after the commit, which the job's status shows.
    text, values = wait_for(metrics, lambda got: got[1].get("ksana_attempt_duration_seconds_count"),
                            "the attempt to be counted")
    for name in ("ksana_fires_total", "ksana_start_lateness_seconds_count",
                 "ksana_attempt_duration_seconds_count", "ksana_store_commits_total",
                 'ksana_runs_finished_total{state="succeeded"}'):
        check(values.get(name, 0) > 0, f"{name}: {values.get(name)}")
        family = name.split("{")[0].removesuffix("_count")
        check(f"# HELP {family} " in text, f"no help for {family}")


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, target: (server, target),
                 environment={"WORKERS": "16", "MAX_RETRIES": "2", "RETRY_BACKOFF": "100ms"})
