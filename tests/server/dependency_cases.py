#!/usr/bin/env python3
"""Dependencies between jobs (D-17, N-20): the built server, its command line and a target.

usage: dependency_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import subprocess

from kit.cases import arguments, case
from kit.checks import check, equal
from kit.contract import Client
from kit.places import run_on_store
from kit.server import Server
from kit.waiting import wait_for, wait_until

NEVER = {"kind": "every", "every": "1000h"}


class Api(Client):
    """Jobs and runs of one server."""

    def create(self, job_id, url, expect=201, **more):
        job = {"id": job_id, "name": job_id, "http": {"url": url}, "schedule": NEVER,
               "overlap": "allow", "retry": {"strategy": "none"}, **more}
        return self.call("POST", "/api/v1/jobs", job, expect)

    def after(self, job_id, url, parents, **more):
        return self.create(job_id, url, schedule={"kind": "after", "jobs": parents, **more})

    def start(self, job_id, **more):
        return self.call("POST", f"/api/v1/jobs/{job_id}/run", more, 202)["id"]

    def fire(self, job_id):
        """A run that waits for the jobs it depends on, as a fire does."""
        return self.start(job_id, obeys_dependencies=True, obeys_overlap=True)

    def run_of(self, run_id):
        return self.call("GET", f"/api/v1/runs/{run_id}")

    def await_state(self, run_id, state):
        return wait_for(lambda: self.run_of(run_id), lambda run: run["state"] == state,
                        f"run {run_id} to be {state}")

    def runs(self, job_id):
        return self.call("GET", f"/api/v1/jobs/{job_id}/runs")["items"]

    def await_runs(self, job_id, count, state="succeeded"):
        return wait_for(lambda: [run for run in self.runs(job_id) if run["state"] == state],
                        lambda runs: len(runs) >= count, f"{count} runs of {job_id}")

    def explain(self, job_id, at):
        return self.call("GET", f"/api/v1/jobs/{job_id}/explain?at={at}&tolerance=0s")

    def ksana(self, *words):
        done = subprocess.run([self.server.binary, *words, "--server", self.server.url],
                              capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout, done.stderr


@case
def a_fire_waits_for_the_other_job(api, target):
    """D-17: queued, blocked, with a cause that the run and explain show; then it runs."""
    api.create("load", target.url + "/hang")
    api.create("report", target.url + "/ok", depends_on=[{"job": "load"}], max_wait="10m")
    load = api.start("load")
    api.await_state(load, "running")
    report = api.fire("report")
    waiting = wait_for(lambda: api.run_of(report), lambda run: run["blocked"], "the run to wait")
    equal(waiting["state"], "queued", "state")
    equal(waiting["detail"]["waits"]["reason"], "dependency", "reason")
    equal(waiting["detail"]["waits"]["for"], "load", "cause")
    check("wait_until" in waiting, f"no end of the wait in {waiting}")
    target.released.set()
    api.await_state(load, "succeeded")
    run = api.await_state(report, "succeeded")
    check(run["started_at"] >= api.run_of(load)["finished_at"], "it started before the other ended")


@case
def a_failed_job_skips_what_depends_on_it(api, target):
    """D-17: skip, wait and run."""
    api.create("load", target.url + "/status/404")
    for what in ("skip", "wait", "run"):
        api.create(what, target.url + "/ok", depends_on=[{"job": "load", "on_failure": what}])
    api.await_state(api.start("load"), "failed")
    runs = {what: api.fire(what) for what in ("skip", "wait", "run")}
    skipped = api.await_state(runs["skip"], "skipped")
    equal(skipped["skip_reason"], "dependency", "why")
    check("load" in skipped["last_error"], skipped["last_error"])
    api.await_state(runs["run"], "succeeded")
    wait_until(lambda: api.run_of(runs["wait"])["blocked"], "the third to wait")
    job = api.call("GET", "/api/v1/jobs/load")
    api.call("PATCH", "/api/v1/jobs/load", {"http": {"url": target.url + "/ok"}})
    equal(job["dependants"], 3, "dependants")
    api.await_state(api.start("load"), "succeeded")
    api.await_state(runs["wait"], "succeeded")


@case
def a_wait_ends(api, target):
    """max_wait: the fire is skipped, and explain names the job."""
    api.create("load", target.url + "/ok")
    api.create("report", target.url + "/ok", depends_on=[{"job": "load"}], max_wait="1s")
    run = api.await_state(api.fire("report"), "skipped")
    equal(run["skip_reason"], "dependency", "why")
    check("max_wait" in run["last_error"], run["last_error"])


@case
def a_diamond(api, target):
    """N-20: load → (check, index) → mail; each fire once, at the end of the last."""
    api.create("load", target.url + "/ok")
    api.after("check", target.url + "/slow/0.2", ["load"])
    api.after("index", target.url + "/ok", ["load"])
    api.after("mail", target.url + "/ok?mail", ["check", "index"])
    for count in (1, 2):
        api.start("load")
        mail = api.await_runs("mail", count)[0]
        last = max(api.await_runs(job_id, count)[0]["finished_at"] for job_id in ("check", "index"))
        equal(mail["nominal_at"], last, "nominal time")
        equal(mail["trigger"], "fire", "trigger")
    equal(len(target.of("/ok?mail")), 2, "mails")
    why = api.explain("mail", mail["nominal_at"])
    equal(why["verdict"], "ran", why["text"])
    equal(why.get("notes", []), [], "notes")
    none = api.explain("mail", api.runs("load")[-1]["created_at"])
    check("after check, index" in none["text"], none["text"])


@case
def a_parent_that_is_retried_changes_nothing(api, target):
    """The child has started: a later, failed run of its parent does not touch it."""
    api.create("load", target.url + "/ok")
    api.create("report", target.url + "/hang", depends_on=[{"job": "load"}])
    api.await_state(api.start("load"), "succeeded")
    report = api.fire("report")
    api.await_state(report, "running")
    api.call("PATCH", "/api/v1/jobs/load", {"http": {"url": target.url + "/status/404"}})
    api.await_state(api.start("load"), "failed")
    equal(api.run_of(report)["state"], "running", "state")
    target.released.set()
    api.await_state(report, "succeeded")


@case
def edges_are_checked(api, target):
    """D-17: unknown jobs, cycles and jobs that others need are refused, and named."""
    problem = api.create("b", target.url + "/ok", 400, depends_on=[{"job": "a"}])
    check("/depends_on/0/job" in str(problem), problem)
    api.create("a", target.url + "/ok")
    api.create("b", target.url + "/ok", depends_on=[{"job": "a"}])
    api.after("c", target.url + "/ok", ["b"])
    problem = api.call("PATCH", "/api/v1/jobs/a", {"depends_on": [{"job": "c"}]}, 400)
    check("a needs c needs b needs a" in str(problem), problem)
    problem = api.call("DELETE", "/api/v1/jobs/b", None, 409)
    check("c" in problem["detail"], problem)
    problem = api.call("POST", "/api/v1/jobs/c/backfill",
                       {"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z"}, 400)
    check("after other jobs" in str(problem), problem)
    preview = api.call("POST", "/api/v1/preview", {"schedule": {"kind": "after", "jobs": ["a"]}})
    equal([warning["kind"] for warning in preview["warnings"]], ["after_others"], "warnings")


@case
def a_paused_job_does_not_follow(api, target):
    api.create("load", target.url + "/ok")
    api.after("mail", target.url + "/ok?mail", ["load"])
    api.call("POST", "/api/v1/jobs/mail/pause", {"reason": "quiet"})
    api.await_state(api.start("load"), "succeeded")
    ledger = api.call("GET", "/api/v1/jobs/mail/ledger")["items"]
    equal([entry["fate"] for entry in ledger], ["skipped_paused"], "ledger")
    equal(api.runs("mail"), [], "runs")


@case
def the_command_line(api, target):
    """ksana job create --after/--depends-on, job graph, job next."""
    url = target.url + "/ok"
    equal(api.ksana("job", "create", "load", "--url", url, "--every", "1000h")[0], 0, "create")
    code, _, error = api.ksana("job", "create", "report", "--url", url, "--cron", "0 3 * * *",
                               "--depends-on", "load", "--on-failure", "wait",
                               "--max-wait", "2h")
    equal(code, 0, error)
    code, _, error = api.ksana("job", "create", "mail", "--url", url, "--after", "load,report",
                               "--on", "any", "--join", "each")
    equal(code, 0, error)
    report = api.call("GET", "/api/v1/jobs/report")
    equal(report["depends_on"], [{"job": "load", "on_failure": "wait"}], "depends_on")
    equal(report["max_wait"], "2h", "max_wait")
    mail = api.call("GET", "/api/v1/jobs/mail")["schedule"]
    equal((mail["jobs"], mail["on"], mail["join"]), (["load", "report"], "any", "each"), "schedule")
    text = api.ksana("job", "graph")[1]
    equal(text.splitlines()[0], "load", text)
    check("└ report (needs, else wait)" in text, text)
    check(api.ksana("job", "graph", "mail", "-o", "mermaid")[1].startswith("flowchart LR\n"),
          "mermaid")
    check('"load" -> "report"' in api.ksana("job", "graph", "-o", "dot")[1], "dot")
    graph = api.call("GET", "/api/v1/jobs/report/graph")
    equal([job["id"] for job in graph["jobs"]], ["load", "mail", "report"], "jobs")
    equal(len(graph["edges"]), 3, "edges")
    code, _, error = api.ksana("job", "next", "mail")
    check(code == 0 and "other jobs" in error, error)


@case
def a_server_that_comes_back_goes_on(api, target):
    """A run that waits is found again after a kill."""
    if "postgres" not in api.server.store:
        return
    api.create("load", target.url + "/hang")
    api.create("report", target.url + "/ok", depends_on=[{"job": "load"}])
    load, report = api.start("load"), None
    api.await_state(load, "running")
    report = api.fire("report")
    wait_until(lambda: api.run_of(report)["blocked"], "the run to wait")
    other = Server(api.server.binary, api.server.store)
    try:
        other.start()
        target.released.set()
        Api(other).await_state(report, "succeeded")
    finally:
        other.close()


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, target: (Api(server), target))
