#!/usr/bin/env python3
"""Traces: one trace per run, from its schedule to its callback, exported by OTLP (D-13).

What arrives is judged by the message classes of OpenTelemetry (kit/otlp_receiver.py).

usage: trace_cases.py KSANA STORE FOLDER [CASE…]      STORE: sqlite, postgres
                                                      FOLDER: where the judge is installed
"""
import os
import re
import subprocess

from kit.agent_client import claim_one, show, submit, tell
from kit.cases import arguments, case, run
from kit.checks import check, equal
from kit.contract import Client
from kit.otlp_receiver import Judge, Receiver
from kit.places import Place
from kit.postgres import store_of
from kit.server import Server
from kit.targets import Target
from kit.waiting import wait_for

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADER = f"00-{TRACE}-{PARENT}-01"
QUICK = {"OTEL_BSP_SCHEDULE_DELAY": "50", "KSANA_CALLBACK_BACKOFF": "50ms",
         "OTEL_SERVICE_NAME": "jobs", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=te%20st"}
RETRY = {"strategy": "fixed", "max_retries": 3, "interval": "100ms"}
PARTLY = '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"odd"}}'
EVERY_HOUR = {"kind": "every", "every": "1h"}


class World(Place):
    def open(self):
        self.receiver = self.enter_context(Receiver())
        self.target = self.enter_context(Target())
        self.start()

    def start(self, **environment):
        """Starts the server, or another one with other variables."""
        self.server = self.enter_context(Server(
            self.given.ksana, store_of(self.given.store), environment={
                **QUICK, "OTEL_EXPORTER_OTLP_ENDPOINT": self.receiver.url, **environment}))
        self.server.start()
        self.api = Client(self.server)

    def run_job(self, path="/ok", headers=None, **job):
        """Makes a job that calls the target, runs it and returns the run."""
        action = {"method": "GET", "url": self.target.url + path}
        self.api.call("POST", "/api/v1/jobs", {
            "id": "j", "name": "j", "schedule": EVERY_HOUR, "http": action, "retry": RETRY, **job},
            201)
        return self.call("POST", "/api/v1/jobs/j/run", None, 202, headers)

    def run_again(self):
        return self.call("POST", "/api/v1/jobs/j/run", None, 202)["id"]

    def call(self, method, path, body, expect, headers=None):
        status, _, content = self.server.request(method, path, body, headers or {})
        equal(status, expect, f"{method} {path} {content}")
        return content

    def ended(self, run_id):
        return wait_for(lambda: show(self.api, run_id), lambda one: "finished_at" in one,
                        f"the end of {run_id}")

    def served(self, run_id):
        return self.api.call("GET", f"/api/v1/runs/{run_id}/spans")

    def judged(self):
        return Judge(self.given.folder).spans(self.receiver)

    def metric(self, line):
        """The value of a metric; 0 if it is not shown."""
        text = self.server.request("GET", "/metrics")[2]
        found = re.search(f"^{re.escape(line)} ([0-9.e+]+)$", text, re.M)
        return float(found.group(1)) if found else 0


def names(spans):
    return sorted(span["name"] for span in spans)


def one(spans, name):
    found = [span for span in spans if span["name"] == name]
    equal(len(found), 1, f"spans named {name}")
    return found[0]


def facts(span):
    return {entry["key"]: next(iter(entry["value"].values())) for entry in span["attributes"]}


@case
def d13_two_retries_are_one_trace(world):
    run_id = world.run_job("/flaky/2")["id"]
    world.receiver.await_spans(lambda spans: any(s["name"] == "run j" for s in spans), "the root")
    calls = world.target.await_calls("/flaky/2", 3)
    spans = world.judged()
    host = world.target.url.removeprefix("http://")
    call = f"HTTP GET {host}"
    equal(names(spans), sorted(["run j", *(f"{part} {n}" for n in (1, 2, 3)
                                           for part in ("wait", "attempt")), call, call, call]),
          "spans")
    root = one(spans, "run j")
    check("parentSpanId" not in root, "the root has no parent")
    equal({span["traceId"] for span in spans}, {run_id.replace("-", "")}, "trace")
    for n in (1, 2, 3):
        attempt = one(spans, f"attempt {n}")
        equal(attempt["parentSpanId"], root["spanId"], "parent")
        equal(one(spans, f"wait {n}")["parentSpanId"], root["spanId"], "parent of the wait")
        # The target was told this span.
        equal(calls[n - 1].headers["traceparent"],
              f"00-{root['traceId']}-{attempt['spanId']}-01", "traceparent")
        below, = [s for s in spans if s.get("parentSpanId") == attempt["spanId"]]
        equal(below["name"], call, "the call")
        equal(facts(below)["http.response.status_code"], "200" if n == 3 else "503", "status")
        equal(attempt["status"]["code"], 1 if n == 3 else 2, "status of the attempt")
        links = [link["spanId"] for link in attempt.get("links", [])]
        equal(links, [one(spans, f"attempt {n - 1}")["spanId"]] if n > 1 else [], "links")
        equal(one(spans, f"wait {n}")["endTimeUnixNano"], attempt["startTimeUnixNano"], "order")
    for span in spans:
        start, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        check(start <= end, "a span ends after it began")
        check(int(root["startTimeUnixNano"]) <= start, "nothing begins before the root")
        check(end <= int(root["endTimeUnixNano"]), "nothing ends after the root")
    told = {entry["key"]: entry["value"]["stringValue"] for entry in root["resource"]["attributes"]}
    equal((told["service.name"], told["deployment.environment"]), ("jobs", "te st"), "resource")
    same_as_served(world, spans, run_id)


def same_as_served(world, spans, run_id):
    """The API shows the exported spans, and so does the command."""
    served = world.served(run_id)
    equal(sorted((s["span_id"], s["name"], s.get("parent_id")) for s in served["spans"]),
          sorted((s["spanId"], s["name"], s.get("parentSpanId")) for s in spans), "served")
    equal({s["traceId"] for s in spans}, {served["trace_id"]}, "served trace")
    done = subprocess.run([world.given.ksana, "run", "trace", run_id, "--server", world.server.url],
                          capture_output=True, text=True, check=True,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})
    check(done.stdout.startswith(f"trace {served['trace_id']}\n"), done.stdout)
    for span in served["spans"]:
        check(span["name"] in done.stdout, f"the waterfall has {span['name']}")


@case
def d13_a_callback_belongs_to_its_run(world):
    """A submitted task, with an agent, whose success is called back: the root ends last."""
    world.api.call("POST", "/api/v1/types", {"code": "mail", "callbacks": {
        "success": {"url": world.target.url + "/done", "method": "POST"}}}, 201)
    run_id = world.call("POST", "/api/v1/runs", {"type": "mail"}, 201,
                        headers={"traceparent": HEADER})["id"]
    taken = claim_one(world.api)
    equal(taken["traceparent"].split("-")[1], TRACE, "the agent's trace")
    tell(world.api, taken, "succeed")
    told = world.target.await_calls("/done")[0]
    world.receiver.await_spans(lambda spans: any(s["name"] == "run mail" for s in spans),
                               "the root")
    spans = world.judged()
    equal({span["traceId"] for span in spans}, {TRACE}, "trace")
    root, callback = one(spans, "run mail"), one(spans, "callback")
    equal(root["parentSpanId"], PARENT, "the submitter's span")
    equal(callback["parentSpanId"], root["spanId"], "parent of the callback")
    check(int(callback["endTimeUnixNano"]) <= int(root["endTimeUnixNano"]), "the root ends last")
    below = [s for s in spans if s.get("parentSpanId") == callback["spanId"]]
    equal(names(below), ["attempt 1", "wait 1"], "parts of the callback")
    equal(told.headers["traceparent"], f"00-{TRACE}-{one(below, 'attempt 1')['spanId']}-01", "sent")
    attempts = [s for s in spans if s["name"] == "attempt 1"
                and s["parentSpanId"] == root["spanId"]]
    equal([s["spanId"] for s in attempts], [taken["traceparent"].split("-")[2]], "the agent's span")
    same_as_served(world, spans, run_id)


@case
def d13_a_traceparent_is_continued_wherever_runs_are_submitted(world):
    headers = {"traceparent": HEADER}
    call = world.call
    run_id = world.run_job(headers=headers)["id"]
    equal(world.target.await_calls("/ok")[0].headers["traceparent"].split("-")[1], TRACE, "call")
    equal(world.served(run_id)["spans"][0]["parent_id"], PARENT, "run of a job")
    batch = call("POST", "/api/v1/runs/batch", {"runs": [
        {"type": "a"}, {"type": "a", "traceparent": HEADER.replace("4bf9", "aaaa")}]}, 200,
        headers=headers)["results"]
    equal([world.served(entry["id"])["trace_id"] for entry in batch],
          [TRACE, TRACE.replace("4bf9", "aaaa")], "batch")
    task = call("POST", "/task", {"type": "t"}, 201, headers=headers)
    equal(world.served(task["id"])["trace_id"], TRACE, "POST /task")
    run_id = call("POST", "/jobs/j/run-now", None, 202, headers=headers)["run_id"]
    equal(world.served(run_id)["trace_id"], TRACE, "run-now")
    # W3C wants a header that is wrong to be ignored; a member of the body is told.
    task = call("POST", "/api/v1/runs", {"type": "a"}, 201, headers={"traceparent": "00-no"})
    equal(world.served(task["id"])["trace_id"], task["id"].replace("-", ""), "a wrong header")
    problem = call("POST", "/api/v1/runs/batch",
                   {"runs": [{"type": "a"}, {"type": "a", "traceparent": "00-no"}]}, 400)
    equal([entry["pointer"] for entry in problem["errors"]], ["/runs/1/traceparent"], "pointer")
    line = world.server.await_line("attempt ended")
    check(f"trace_id={TRACE}" in line and "span_id=" in line, line)


@case
def d13_a_repetition_belongs_to_the_trace(world):
    first = world.run_job("/status/404", headers={"traceparent": HEADER})["id"]
    world.ended(first)
    again = world.api.call("POST", f"/api/v1/runs/{first}/retry", None, 202)["id"]
    spans = world.served(again)
    equal(spans["trace_id"], TRACE, "trace")
    equal(spans["spans"][0]["parent_id"], world.served(first)["spans"][0]["span_id"], "parent")
    world.ended(again)


@case
def d13_a_follower_links_to_its_cause(world):
    first = world.run_job()["id"]
    world.ended(first)
    world.api.call("POST", "/api/v1/jobs", {"id": "next",
        "name": "next", "schedule": {"kind": "after", "jobs": ["j"]},
        "http": {"method": "GET", "url": world.target.url + "/next"}}, 201)
    cause = world.run_again()
    world.target.await_calls("/next")
    world.receiver.await_spans(lambda spans: any(s["name"] == "run next" for s in spans),
                               "the follower")
    spans = world.judged()
    follower = one(spans, "run next")
    causes = [s for s in spans if s["name"] == "run j" and
              s["traceId"] == cause.replace("-", "")]
    check(follower["traceId"] != causes[0]["traceId"], "a trace of its own")
    equal([(link["traceId"], link["spanId"]) for link in follower["links"]],
          [(causes[0]["traceId"], causes[0]["spanId"])], "links")


@case
def d13_a_run_that_waited_links_to_what_released_it(world):
    cause = world.run_job("/hang", timeout="60s")["id"]
    world.target.await_calls("/hang")
    world.api.call("POST", "/api/v1/jobs", {
        "id": "late", "name": "late", "schedule": EVERY_HOUR, "depends_on": [{"job": "j"}],
        "max_wait": "10m", "http": {"method": "GET", "url": world.target.url + "/late"}}, 201)
    late = world.api.call("POST", "/api/v1/jobs/late/run",
                          {"obeys_dependencies": True, "obeys_overlap": True}, 202)["id"]
    wait_for(lambda: show(world.api, late), lambda one: one["blocked"], "the run to wait")
    waits = one(world.served(late)["spans"], "wait 1")
    equal(waits["attributes"]["ksana.wait_for"], "j", "what it waits for")
    world.target.released.set()
    world.ended(late)
    world.receiver.await_spans(lambda spans: any(s["name"] == "run late" for s in spans), "the run")
    spans = world.judged()
    released, root = one(spans, "run late"), one(spans, "run j")
    equal((released["traceId"], root["traceId"]),
          (late.replace("-", ""), cause.replace("-", "")), "traces of their own")
    equal([(link["traceId"], link["spanId"]) for link in released["links"]],
          [(root["traceId"], root["spanId"])], "links")


@case
def d13_a_receiver_that_is_busy_gets_every_span_once(world):
    """429 with Retry-After, 503, and a partial success."""
    receiver = world.receiver
    receiver.answers = [(429, {"Retry-After": "1"}, "", 0),
                        (200, {}, PARTLY, 0)]
    world.run_job()
    receiver.await_requests(2)
    equal(receiver.requests[0][3], receiver.requests[1][3], "the same request again")
    wait_for(lambda: world.metric('ksana_trace_spans_dropped_total{reason="rejected"}'),
             lambda count: count == 1, "the rejected span")
    world.server.await_line("has not taken all of them")
    equal(world.metric("ksana_trace_requests_failed_total"), 1, "failures")
    path, headers = receiver.requests[0][1:3]
    equal((path, headers["Content-Type"], headers["Content-Encoding"]),
          ("/v1/traces", "application/json", "gzip"), "request")


@case
def d13_a_receiver_that_is_away_or_hangs_is_in_nobodys_way(world):
    """The receiver hangs; the queue is full; runs go on, and the server stops in time."""
    world.receiver.answers = [(503, {}, "", 60)] * 100
    world.start(OTEL_BSP_MAX_QUEUE_SIZE="10", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="4",
                OTEL_EXPORTER_OTLP_TIMEOUT="500")
    for _ in range(20):
        task = submit(world.api, "t")
        tell(world.api, claim_one(world.api), "succeed")
        equal(show(world.api, task["id"])["state"], "succeeded", "state")
    full = 'ksana_trace_spans_dropped_total{reason="queue_full"}'
    dropped = wait_for(lambda: world.metric(full), lambda count: count > 0, "drops")
    # Each run has three spans: its root, its wait and its attempt.
    check(60 - 10 - 4 * 5 <= dropped <= 60, f"{dropped} of 60 dropped")
    equal(world.server.stop(), 0, "exit code")


@case
def d13_sampling_and_other_variables(world):
    """The sampler decides about flags and export; wrong values are told and ignored."""
    world.start(OTEL_TRACES_SAMPLER="parentbased_always_off", OTEL_BSP_MAX_QUEUE_SIZE="none",
                OTEL_EXPORTER_OTLP_HEADERS="x-key=a%2Cb", OTEL_EXPORTER_OTLP_COMPRESSION="none")
    line = world.server.await_line("a variable of OpenTelemetry is wrong")
    check("OTEL_BSP_MAX_QUEUE_SIZE=none" in line, line)
    unsampled = submit(world.api, "quiet")
    check(claim_one(world.api)["traceparent"].endswith("-00"), "not sampled")
    world.call("POST", "/api/v1/runs", {"type": "loud"}, 201, {"traceparent": HEADER})
    taken = claim_one(world.api, types=["loud"])
    check(taken["traceparent"].endswith("-01"), "sampled by the submitter")
    tell(world.api, taken, "succeed")
    world.receiver.await_spans(lambda spans: any(s["name"] == "run loud" for s in spans), "export")
    headers = world.receiver.requests[-1][2]
    equal((headers["x-key"], headers.get("Content-Encoding")), ("a,b", None), "headers")
    check(not any(s["traceId"] == unsampled["id"].replace("-", "") for s in world.judged()),
          "an unsampled run is not exported")
    # Without an exporter a run still has its spans.
    world.start(OTEL_SDK_DISABLED="true")
    task = submit(world.api, "quiet")
    equal(len(world.served(task["id"])["spans"]), 2, "spans of a run that waits")
    check(claim_one(world.api)["traceparent"].endswith("-01"), "flags without an exporter")
    check("ksana_trace_" not in world.server.request("GET", "/metrics")[2], "no exporter")


if __name__ == "__main__":
    given = arguments("KSANA STORE FOLDER")
    run(given, lambda _: World(given))
