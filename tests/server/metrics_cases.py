#!/usr/bin/env python3
"""The metrics of servers and workers, judged by Prometheus' own tools (D-14, K-23).

usage: metrics_cases.py KSANA DOCS PACKAGING [CASE…]
       DOCS: metrics.md; PACKAGING: the folder with prometheus/ and grafana/. One case needs
       PostgreSQL (KSANA_TEST_POSTGRES).
"""
import json
import pathlib
import re
import urllib.request

from kit.agent_client import claim_one, submit, tell
from kit.cases import arguments, case, run
from kit.checks import check, contains, equal
from kit.contract import Client
from kit.metrics import OPEN, open_scrape, promtool, scrape
from kit.places import Place
from kit.postgres import store_of
from kit.server import Server
from kit.targets import Target
from kit.waiting import let_pass, wait_for, wait_until
from kit.worker_process import WorkerProcess

PARALLEL = 3
SETTINGS = {"KSANA_WORKER_HEARTBEAT": "300ms", "KSANA_WORKER_TIMEOUT": "1.5s"}
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \|([^|]*)\| ([^|]*) \|$", re.MULTILINE)
# What a query names that is one of ours.
NAME = re.compile(r"\b(?:ksana|process)_\w+")
RULE = re.compile(r"\bksana:[\w:]+")
HOUR = {"kind": "every", "every": "1h"}


class MetricsPlace(Place):
    def open(self):
        self.docs, self.packaging = self.given.docs, pathlib.Path(self.given.packaging)
        self.folder = self.new_folder("ksana_metrics_")
        self.target = self.enter_context(Target())
        self.callback(self.target.released.set)

    def server(self, store="sqlite"):
        server = self.enter_context(Server(self.given.ksana, store, environment=SETTINGS))
        server.start()
        server.api = Client(server)
        server.fetch = lambda headers: server.request("GET", "/metrics", headers=headers)
        server.scrape = lambda: scrape(server.fetch)
        return server

    def worker(self, server, *flags):
        made = WorkerProcess(self.given.ksana, [server], *flags, "--metrics", "127.0.0.1:0",
                             folder=self.folder)
        self.enter_context(made).await_registered()
        port = re.search(r"port=(\d+)", made.await_line("serves metrics")).group(1)

        def fetch(headers):
            asked = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
            with urllib.request.urlopen(asked, timeout=10) as answer:
                return answer.status, answer.headers, answer.read().decode()

        made.fetch, made.scrape = fetch, lambda: scrape(fetch)
        return made

    def job(self, server, name, path="/ok", **more):
        body = {"id": name, "name": name, "http": {"url": self.target.url + path},
                "schedule": HOUR, "retry": {"strategy": "none"}, **more}
        server.api.call("POST", "/api/v1/jobs", body, 201)

    def start(self, server, name):
        return server.api.call("POST", f"/api/v1/jobs/{name}/run", {}, 202)["id"]

    def busy_pair(self):
        """A server and a worker with a sample of as many metrics as possible."""
        server = self.server()
        api = server.api
        worker = self.worker(server, "--handler", "good=true", "--handler", "bad=false",
                             "--slots", "3")
        api.call("PUT", "/api/v1/groups/etl", {"max_concurrency": 1,
                                               "rate": {"count": 9, "per": "1s"}}, 201)
        self.job(server, "well", group="etl")
        self.job(server, "ill", "/status/500")
        self.start(server, "well")
        self.start(server, "ill")
        submit(api, "good")
        submit(api, "bad", retry={"strategy": "none"})
        submit(api, "lonely")
        api.call("GET", "/api/v1/runs/01900000-0000-7000-8000-000000000000", None, 404)
        wait_for(server.scrape, lambda now: now.value("ksana_type_runs_total") == 4 and
                 now.values("ksana_limit_in_use"), "four runs to end")
        wait_for(worker.scrape, lambda now: now.value("ksana_worker_attempts_total") == 2,
                 "the worker's attempts")
        return server, worker


@case(first=True)
def d14_promtool_accepts_what_server_and_worker_serve(place):
    """D-14, K-23"""
    for one in place.busy_pair():
        text = one.scrape().text
        contains("ksana_build_info{version=", text)
        equal(promtool("check", "metrics", text=text), "", "complaints")


@case
def d14_open_metrics_are_served_to_who_asks(place):
    """D-14: the strict parser reads both, and finds what the plain text says."""
    for one in place.busy_pair():
        families = open_scrape(one.fetch)
        plain = one.scrape()
        named = {name.removesuffix("_total"): kind for name, kind in plain.kinds.items()}
        equal({name: family["type"] for name, family in families.items()}, named, "families")
        equal(families["process_cpu_seconds"]["unit"], "seconds")
        equal(families["process_resident_memory_bytes"]["unit"], "bytes")
        for accept, kind in ((f"{OPEN};q=0.2, text/plain;q=0.3", "text/plain"),
                             (f"{OPEN};q=0", "text/plain"), (f"{OPEN};version=2.0.0", "text/plain"),
                             (f"text/html, {OPEN.upper()} ; Q=1.0", OPEN), ("*/*", "text/plain")):
            check(one.fetch({"Accept": accept})[1]["Content-Type"].startswith(kind + ";"), accept)


def exemplars(families, name):
    return [sample["exemplar"] for sample in families[name]["samples"] if sample["exemplar"]]


@case
def d14_exemplars_lead_to_the_trace_of_a_run(place):
    server = place.server()
    worker = place.worker(server, "--handler", "good=true")
    place.job(server, "well")
    place.start(server, "well")
    submit(server.api, "good")
    # A sample exists from its first observation on. A scrape then asks for its exemplar.
    wait_until(lambda: server.scrape().value("ksana_runs_finished_total", state="succeeded") == 2,
               "the samples")
    for one in (server, worker):
        open_scrape(one.fetch)
    run_id = place.start(server, "well")
    task = submit(server.api, "good")["id"]
    trace, other = run_id.replace("-", ""), task.replace("-", "")
    for name in ("ksana_attempt_duration_seconds", "ksana_type_attempt_duration_seconds",
                 "ksana_attempts_ended"):
        found = wait_until(lambda: exemplars(open_scrape(server.fetch), name), f"{name}")
        equal([one["labels"] for one in found], [{"trace_id": trace}], name)
        check(found[0]["value"] >= 0 and found[0]["at"] > 1.7e9, found)
    late = exemplars(open_scrape(server.fetch), "ksana_start_lateness_seconds")
    check({one["labels"]["trace_id"] for one in late} <= {trace, other}, late)
    for name in ("ksana_worker_attempt_seconds", "ksana_worker_attempts"):
        found = wait_until(lambda: exemplars(open_scrape(worker.fetch), name), name)
        equal([one["labels"] for one in found], [{"trace_id": other}], name)


@case
def d14_success_rate_duration_and_worker_health(place):
    """D-14: success rate, durations, queue length and age, health of workers"""
    server, worker = place.busy_pair()
    now = server.scrape()
    equal(now.value("ksana_runs_success_ratio"), 0.5)
    for kind, name, outcome in (("http", "", "success"), ("queue", "good", "success"),
                                ("queue", "bad", "retryable_failure")):
        labels = {"kind": kind, "type": name} if name else {"kind": kind}
        outcomes = {"outcome": outcome, **labels}
        check(now.value("ksana_type_attempts_total", **outcomes) >= 1,
              (outcomes, [one for one in now.samples if one[0] == "ksana_type_attempts_total"]))
        check(now.value("ksana_type_attempt_duration_seconds_count", **labels) >= 1, labels)
    equal(now.value("ksana_type_runs_total", type="good", state="succeeded"), 1)
    equal(now.value("ksana_type_runs_total", type="bad", state="failed"), 1)
    later = wait_for(server.scrape, lambda one: one.value(
        "ksana_queue_oldest_age_seconds", type="lonely") > 0.1, "the age of the oldest task")
    equal(later.value("ksana_queue_depth", kind="queue", type="lonely", state="queued"), 1)
    equal(later.value("ksana_workers", state="alive"), 1)
    equal(later.value("ksana_workers_slots", state="alive"), 3)
    equal(later.value("ksana_limit_max_concurrency", kind="group", name="etl"), 1)
    equal(worker.scrape().value("ksana_worker_success_ratio"), 0.5)
    equal(worker.scrape().value("ksana_worker_slots"), 3)
    worker.kill()
    wait_until(lambda: server.scrape().value("ksana_workers", state="down") == 1, "the worker down")


@case
def d14_the_shares_of_limits_are_shown(place):
    """Servers on one PostgreSQL divide a limit: this one has the whole of it."""
    server = place.server(store_of("postgres"))
    server.api.call("PUT", "/api/v1/groups/etl", {"max_concurrency": 3,
                                                  "rate": {"count": 9, "per": "1s"}}, 201)
    place.job(server, "hangs", "/hang", group="etl", timeout="1m")
    place.start(server, "hangs")
    etl = {"kind": "group", "name": "etl"}
    now = wait_for(server.scrape, lambda one: one.value("ksana_limit_in_use", **etl) == 1,
                   "the attempt")
    equal(now.value("ksana_limit_max_concurrency", **etl), 3)
    check(1 <= now.value("ksana_limit_share_places", **etl) <= 3, "places")
    check(1 <= now.value("ksana_limit_share_starts", **etl) <= 9, "starts")
    equal(now.values("ksana_build_info", store="postgres"), [1], "the kind of store")


@case
def d14_agents_count_by_type(place):
    server = place.server()
    submit(server.api, "mail")
    task = claim_one(server.api)
    tell(server.api, task, "succeed")
    now = server.scrape()
    equal(now.value("ksana_type_attempts_total", type="mail", outcome="success"), 1)
    equal(now.value("ksana_type_attempt_duration_seconds_count", type="mail"), 1)


@case
def d14_labels_that_clients_choose_are_bounded(place):
    """D-14: the first 200 types keep their names, the others share one."""
    server = place.server()
    tasks = [{"type": f"type{n}"} for n in range(260)]
    server.api.call("POST", "/api/v1/runs/batch", {"runs": tasks}, 200)
    now = server.scrape()
    for name in ("ksana_queue_depth", "ksana_queue_oldest_age_seconds"):
        names = now.label_values(name, "type")
        equal(len(names), 201, name)
        check("other" in names, name)
    equal(now.value("ksana_queue_depth", state="queued"), 260)
    equal(now.value("ksana_queue_depth", type="other"), 60)
    age = now.value("ksana_queue_oldest_age_seconds", type="other")
    check(0 <= age < 30, f"the age of the oldest, not a sum: {age}")


@case
def d14_store_locks_loops_and_alerts(place):
    server = place.server()
    server.api.call("PUT", "/api/v1/alerts/bad",
                    {"on": "failure", "webhook": {"url": place.target.url + "/alert"}}, 201)
    place.job(server, "ill", "/status/500")
    place.start(server, "ill")
    now = wait_for(server.scrape, lambda one: one.value("ksana_alerts_open") == 1, "an incident")
    check(now.value("ksana_store_commits_total") > 0, "commits")
    for operation in ("runs.Exchange", "runs.Submit", "jobs.Write"):
        check(now.value("ksana_store_call_duration_seconds_count", operation=operation) > 0,
              operation)
    equal(now.value("ksana_store_errors_total", code="unavailable"), 0)
    server.api.call("GET", "/api/v1/runs/01900000-0000-7000-8000-000000000000", None, 404)
    equal(server.scrape().value("ksana_store_errors_total", operation="runs.Get",
                                code="not_found"), 1)
    check(now.value("ksana_lock_calls_total", operation="try", outcome="granted") > 0, "locks")
    equal(now.value("ksana_lock_calls_total", operation="try", outcome="granted"),
          now.value("ksana_lock_wait_seconds_count", operation="try"))
    wait_until(lambda: server.scrape().value("ksana_loop_delay_seconds_count", loop="alerts") > 0,
               "a delay of the loop of alerts")
    check(now.value("ksana_loop_step_duration_seconds_count", loop="dispatcher") > 0, "steps")
    check(server.scrape().value("ksana_loop_silence_seconds") < 30, "silence")


@case(first=True)
def skipped_and_missed_fires_are_counted(place):
    """K-23: fires that overlap, and those of a time when no server ran"""
    server = place.server()
    second = {"kind": "every", "every": "1s"}
    place.job(server, "hangs", "/hang", schedule=second, overlap="skip", timeout="1m",
              misfire={"policy": "skip", "grace": "500ms"})
    wait_until(lambda: server.scrape().value("ksana_runs_finished_total", state="skipped") >= 1,
               "a skipped fire")
    server.kill()
    let_pass(2.2, "two fires without a server")
    server.start()

    # The two are counted one after the other, and a scrape may come between.
    def both(one):
        return (one.value("ksana_runs_finished_total", state="missed"),
                one.value("ksana_fires_without_run_total", fate="missed"))
    wait_for(lambda: both(server.scrape()), lambda now: now[0] == now[1] >= 1, "a missed fire")


def documented(path):
    """Returns the rows of the tables: name to kind, labels and help."""
    rows = ROW.findall(pathlib.Path(path).read_text(encoding="utf-8"))
    return {name: (kind, frozenset(re.findall(r"`(\w+)`", labels)), text)
            for name, kind, labels, text in rows}


@case
def d14_every_metric_is_documented_as_it_is_served(place):
    rows = documented(place.docs)
    for one, prefixes in zip(place.busy_pair(), (("ksana_", "process_"), ("ksana_worker_",))):
        now = one.scrape()
        for name, kind in now.kinds.items():
            check(name in rows, f"docs: there is no row for `{name}` | {kind} | … | "
                                f"{now.helps[name]} |")
            if name == "ksana_build_info":
                continue        # the worker has no store
            labels = now.labels_of(name)
            labels = rows[name][1] if labels is None else frozenset(labels)
            # An empty value is as good as no label, and the reader above drops neither.
            equal(rows[name], (kind, labels, now.helps[name]), f"docs: row of {name}")
        served = {name for name in rows if name.startswith(prefixes) and
                  name.startswith("ksana_worker_") == (prefixes == ("ksana_worker_",))}
        equal(sorted(served - set(now.kinds)), [], "documented, but not served")


def queries(dashboard):
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


@case
def d14_rules_and_dashboard_name_only_what_is_served(place):
    server, worker = place.busy_pair()
    served = server.scrape().sample_names() | worker.scrape().sample_names()
    rules = (place.packaging / "prometheus" / "rules.yml").read_text(encoding="utf-8")
    dashboard = json.loads((place.packaging / "grafana" / "ksana.json").read_text(encoding="utf-8"))
    recorded = set(re.findall(r"- record: (\S+)", rules))
    text = rules + "\n".join(queries(dashboard)) + json.dumps(dashboard["templating"])
    text = re.sub(r"#.*", "", text)
    equal(sorted(set(NAME.findall(text)) - served), [], "named, but not served")
    equal(sorted(set(RULE.findall(text)) - recorded), [], "named, but not recorded")
    shown = set(NAME.findall("\n".join(queries(dashboard))))
    parts = re.compile("_(bucket|sum|count)$")
    equal(sorted({parts.sub("", name) for name in served} - {parts.sub("", name) for name in shown}
                 - {"process_start_time_seconds"}), [], "served, but not on the dashboard")


@case
def dashboard_can_be_imported(place):
    dashboard = json.loads((place.packaging / "grafana" / "ksana.json").read_text(encoding="utf-8"))
    panels = dashboard["panels"]
    equal(len({panel["id"] for panel in panels}), len(panels), "ids of panels")
    equal([panel["title"] for panel in panels if panel["type"] == "row"],
          ["Is everything all right", "Fires and lateness", "Runs by type", "Queues", "Workers",
           "Limits and locks", "Store", "Process"], "rows")
    for panel in panels:
        place_of = panel["gridPos"]
        check(0 <= place_of["x"] and place_of["x"] + place_of["w"] <= 24, panel["title"])
        for target in panel.get("targets", []):
            equal(target["datasource"]["uid"], "${datasource}", panel["title"])
    # promtool reads queries only as those of rules.
    rules = [{"record": f"panel:{n}", "expr": query.replace("$__rate_interval", "5m")}
             for n, query in enumerate(queries(dashboard))]
    made = place.folder / "dashboard.yml"
    groups = {"groups": [{"name": "panels", "rules": rules}]}
    made.write_text(json.dumps(groups), encoding="utf-8")       # JSON is YAML
    contains(f"{len(rules)} rules found", promtool("check", "rules", str(made)))


@case
def rules_fire_when_they_should(place):
    folder = place.packaging / "prometheus"
    contains("SUCCESS", promtool("check", "rules", str(folder / "rules.yml")))
    contains("SUCCESS", promtool("test", "rules", str(folder / "rules_test.yml")))
    alerts = re.findall(r"- alert: (\w+)", (folder / "rules.yml").read_text(encoding="utf-8"))
    tests = (folder / "rules_test.yml").read_text(encoding="utf-8")
    for alert in alerts:
        equal(len(re.findall(rf"alertname: {alert}\b", tests)), 2, f"tests of {alert}")


if __name__ == "__main__":
    words = arguments("KSANA DOCS PACKAGING")
    run(words, lambda _: MetricsPlace(words), PARALLEL)
