#!/usr/bin/env python3
"""Callbacks of the built server: delivery, signatures, and no lost callback (T-10, T-11).

usage: callback_cases.py KSANA STORE DOCS [CASE…]      STORE: sqlite, postgres; DOCS: callbacks.md

The Python and Node.js code of the documentation checks the signatures. It shares no code with the
server.
"""
import base64
import http.client
import json
import subprocess
import threading

from kit.cases import arguments, case, run, say
from kit.checks import Failure, check, equal
from kit.documents import fenced_blocks, python_names
from kit.places import Place
from kit.postgres import store_of
from kit.server import Server
from kit.targets import Target
from kit.waiting import PATIENCE, let_pass, wait_for, wait_until

# Many quick retries: a target that is down must not cause dead letters here.
SETTINGS = {"KSANA_CALLBACK_BACKOFF": "50ms", "KSANA_CALLBACK_MAX_BACKOFF": "200ms",
            "KSANA_CALLBACK_RETRIES": "1000", "KSANA_BREAKER_PAUSE": "100ms",
            "KSANA_BREAKER_MAX": "200ms", "KSANA_NODE_NAME": "one", "WORKERS": "16"}


class Verifier:
    """Checks signatures with the code that docs/callbacks.md gives to receivers."""

    def __init__(self, docs):
        self.python = python_names(docs)["verify"]
        self.node = "".join(fenced_blocks(docs, "js"))

    def verify(self, secret, call):
        headers = {name.lower(): value for name, value in call.headers.items()}
        body = call.body.encode()
        by_python = self.python(secret, headers, body)
        by_node = self.by_node(secret, headers, body)
        equal(by_node, by_python, "Node.js and Python")
        return by_python

    def by_node(self, secret, headers, body):
        script = self.node + "\nconst [secret, headers, body] = JSON.parse(process.argv[1]);\n" \
            "console.log(verify(secret, headers, Buffer.from(body, 'base64')));"
        given = json.dumps([secret, headers, base64.b64encode(body).decode()])
        done = subprocess.run(["node", "-e", script, given], capture_output=True, text=True,
                              check=True)
        return done.stdout.strip() == "true"


class World(Place):
    def open(self):
        self.verifier = Verifier(self.given.docs)
        self.target = Target()
        self.callback(lambda: self.target.close())      # a case may have replaced it
        self.server = self.enter_context(Server(self.given.ksana, store_of(self.given.store),
                                                environment=SETTINGS))
        self.server.start()

    def api(self, method, path, body=None, expect=200):
        return self.server.call(method, "/api/v1" + path, body, expect)

    def make_type(self, code, **members):
        return self.api("POST", "/types", {"code": code, **members}, 201)

    def callbacks(self, code, secure=None, path="/ok", **more):
        members = {"success": {"url": f"{self.target.url}{path}/success", "method": "POST"},
                   "error": {"url": f"{self.target.url}{path}/error", "method": "PUT"}, **more}
        if secure:
            members |= {"security": "aksk", "access_key": "shop", "secret_key": secure}
        return self.make_type(code, callbacks=members, retry={"strategy": "none"})

    def submit(self, code, payload):
        return self.api("POST", "/runs", {"type": code, "payload": payload}, 201)["id"]

    def claim(self, code):
        return self.api("POST", "/agent/claim",
                        {"worker": "w", "types": [code], "wait": "10s"})["runs"][0]

    def done(self, code, payload=None, result=None, **more):
        """Submits a task, reports its success as an agent, and returns the id of the run."""
        self.submit(code, payload)
        taken = self.claim(code)    # or a run from before a kill
        run_id = taken["run_id"]
        self.api("POST", f"/agent/runs/{run_id}/succeed",
                 {"exec_id": taken["exec_id"], "result": result, **more}, 204)
        return run_id

    def failed(self, code, payload=None, message="broken"):
        self.submit(code, payload)
        taken = self.claim(code)    # or a run from before a kill
        run_id = taken["run_id"]
        self.api("POST", f"/agent/runs/{run_id}/fail",
                 {"exec_id": taken["exec_id"], "error": {"message": message}}, 204)
        return run_id

    def run(self, run_id):
        return self.api("GET", f"/runs/{run_id}")

    def await_state(self, run_id, state):
        return wait_for(lambda: self.run(run_id), lambda run: run["state"] == state,
                        f"{run_id} to be {state}")

    def listed(self, query):
        return self.api("GET", f"/callbacks?{query}")["items"]


@case
def t10_success_is_told(world):
    world.callbacks("mail")
    run_id = world.done("mail", {"to": "me", "n": [1, None]}, {"sent": True})
    call = world.target.await_calls("/ok/success")[0]
    equal(call.method, "POST", "method")
    equal(call.json(), {"ext": {"to": "me", "n": [1, None]}, "result": {"sent": True}}, "body")
    world.await_state(run_id, "succeeded")
    one, = world.listed(f"parent={run_id}")
    equal((one["state"], one["event"], one["signed"]), ("delivered", "success", False), "listed")
    equal(call.headers["webhook-id"], one["id"], "the id")
    names = {name.lower() for name in call.headers}
    check("webhook-signature" not in names, "there is nothing to sign with")


@case
def t10_an_error_is_told(world):
    world.callbacks("pay")
    run_id = world.failed("pay", {"amount": 5}, "no \"money\"")
    call = world.target.await_calls("/ok/error")[0]
    equal(call.method, "PUT", "method")
    body = call.json()
    equal((body["task_id"], body["ext"]), (run_id, {"amount": 5}), "body")
    check("no \"money\"" in body["error_info"], body)
    equal(world.run(run_id)["state"], "failed", "it does not wait for the callback")


@case
def t10_completed_until_delivered(world):
    world.callbacks("slow", path="/hang")
    run_id = world.done("slow", {}, 1)
    world.target.await_calls("/hang/success")
    equal(world.run(run_id)["state"], "completing", "while the receiver thinks")
    world.target.released.set()
    world.await_state(run_id, "succeeded")


@case
def t10_without_a_callback_straight_to_success(world):
    world.make_type("plain")
    equal(world.run(world.done("plain", {}, 1))["state"], "succeeded", "no callback is configured")
    world.callbacks("told")
    run_id = world.done("told", {}, 1, callback=False)
    equal(world.run(run_id)["state"], "succeeded", "the agent has told the receiver itself")
    equal(world.listed(f"parent={run_id}"), [], "none is sent")
    equal(world.run(world.done("unknown-type", {}, 1))["state"], "succeeded", "a type is optional")


@case
def t11_callbacks_are_signed(world):
    world.callbacks("safe", secure="hush-hush")
    run_id = world.done("safe", {"ü": "\u2028"}, "déjà vu")
    call = world.target.await_calls("/ok/success")[0]
    equal(call.headers["Ksana-Access-Key"], "shop", "who")
    check(world.verifier.verify("hush-hush", call), "the signature is right")
    check(not world.verifier.verify("another", call), "and only with this secret")
    call.body = call.body.replace("vu", "entendu")
    check(not world.verifier.verify("hush-hush", call), "and only for this body")
    listed = world.listed("type=safe")
    shown = json.dumps([world.run(run_id), listed, world.run(listed[0]["id"])])
    check("hush" not in shown, "a secret leaks")


@case
def the_signature_covers_run_attempt_and_scheduled_time(world):
    world.callbacks("bound", secure="hush-hush")
    world.done("bound", {}, 1)
    call = world.target.await_calls("/ok/success")[0]
    check(world.verifier.verify("hush-hush", call), "as it was sent")
    for name, other in (("Ksana-Run-Id", "0190b6a5-7c1e-7d2a-8f3b-123456789abc"),
                        ("Ksana-Attempt", "7"), ("Ksana-Scheduled-At", "2020-01-01T00:00:00Z")):
        kept, call.headers[name] = call.headers[name], other
        check(not world.verifier.verify("hush-hush", call), f"another {name}")
        call.headers[name] = kept
    check(world.verifier.verify("hush-hush", call), "as it was sent")


@case
def calls_of_jobs_are_signed_as_callbacks_are(world):
    world.make_type("keys", callbacks={"security": "aksk", "access_key": "shop",
                                       "secret_key": "hush-hush"})
    job = {"id": "signed", "name": "signed", "retry": {"strategy": "none"},
           "schedule": {"kind": "once", "run_at": "2100-01-01T00:00:00Z"},
           "http": {"method": "POST", "url": world.target.url + "/ok/{{n}}", "body": '{"n": {{n}}}',
                    "headers": {"Webhook-Signature": "v1,forged"}, "sign_as": "keys"}}
    shown = world.api("POST", "/jobs", job, 201)
    check("hush" not in json.dumps(shown), "a secret leaks")

    def start(number):
        return world.api("POST", "/jobs/signed/run", {"parameters": {"n": number}}, 202)["id"]

    run_id = start(1)
    call = world.target.await_calls("/ok/1")[0]
    equal((call.headers["webhook-id"], call.headers["Ksana-Access-Key"]), (run_id, "shop"), "who")
    check(world.verifier.verify("hush-hush", call), "the signature is right")
    call.body = '{"n": 2}'
    check(not world.verifier.verify("hush-hush", call), "and only for this body")
    unsigned = {**job, "id": "far", "placement": {"require": {"zone": "a"}}}
    problem = world.api("POST", "/jobs", unsigned, 400)
    equal(problem["errors"][0]["pointer"], "/http/sign_as", "only servers sign")
    world.api("DELETE", "/types/keys", expect=204)
    failed = world.await_state(start(3), "failed")
    check('signed as the type "keys", which is gone' in failed["last_error"], failed["last_error"])
    equal(world.target.of("/ok/3"), [], "nothing was sent")


@case
def t11_two_secrets_during_a_change(world):
    world.callbacks("both", secure="whsec_bmV3IHNlY3JldA==", previous_secret_key="old secret")
    world.done("both", {}, 1)
    call = world.target.await_calls("/ok/success")[0]
    check(world.verifier.verify("whsec_bmV3IHNlY3JldA==", call), "the new one")
    check(world.verifier.verify("old secret", call), "and the old one")
    equal(len(call.headers["webhook-signature"].split(" ")), 2, "signatures")


@case
def t11_the_secret_of_the_moment_signs(world):
    world.callbacks("turn", secure="before", path="/status/503")
    run_id = world.done("turn", {}, 1)
    first = world.target.await_calls("/status/503/success")[0]
    status, headers, _ = world.server.request("GET", "/api/v1/types/turn")
    equal(status, 200, "the type")
    status, _, content = world.server.request(
        "PATCH", "/api/v1/types/turn",
        {"callbacks": {"secret_key": "after", "success": {"url": world.target.url + "/ok/turn"}}},
        {"If-Match": headers["ETag"], "Content-Type": "application/merge-patch+json"})
    equal(status, 200, content)
    world.await_state(run_id, "succeeded")
    last, = world.target.of("/ok/turn")
    check(world.verifier.verify("before", first), "the first try")
    check(world.verifier.verify("after", last), "the last one")
    equal(last.headers["webhook-id"], first.headers["webhook-id"], "ids")


@case
def a_dead_letter_is_sent_again(world):
    world.callbacks("gone", path="/status/410")
    run_id = world.done("gone", {}, 1)
    letter, = wait_until(lambda: world.listed("type=gone&state=failed"),
                         lambda: f"a dead letter among {world.listed('type=gone')}")
    run = world.run(run_id)
    equal(run["state"], "completing", "it is not told yet")
    check("410" in run["last_error"], run)
    status, headers, _ = world.server.request("GET", "/api/v1/types/gone")
    equal(status, 200, "the type")
    status, _, content = world.server.request(
        "PATCH", "/api/v1/types/gone",
        {"callbacks": {"success": {"url": world.target.url + "/ok/moved"}}},
        {"If-Match": headers["ETag"], "Content-Type": "application/merge-patch+json"})
    equal(status, 200, content)
    world.api("POST", f"/callbacks/{letter['id']}/redeliver", {}, 202)
    call = world.target.await_calls("/ok/moved")[0]
    equal(call.headers["webhook-id"], letter["id"], "under the same id")
    world.await_state(run_id, "succeeded")
    world.api("POST", f"/callbacks/{letter['id']}/redeliver", {}, 409)


@case
def a_person_closes_a_run_that_cannot_be_told(world):
    world.callbacks("closed", path="/status/410")
    run_id = world.done("closed", {}, 1)
    world.target.await_calls("/status/410/success")
    world.api("POST", f"/runs/{run_id}/resolve", {"remark": "told by phone"}, 200)
    run = world.run(run_id)
    equal((run["state"], run["remark"]), ("resolved", "told by phone"), "closed")


@case
def a_type_that_is_deleted_meanwhile(world):
    world.callbacks("brief", path="/flaky/2")
    run_id = world.done("brief", {}, 1)
    world.api("DELETE", "/types/brief", None, 204)
    world.await_state(run_id, "succeeded")
    check(len(world.target.of("/flaky/2/success")) >= 3, "it went where it was to go")


@case
def none_is_lost_while_target_and_server_are_down(world):
    """The target goes down and up, the server is killed several times; each callback arrives."""
    secret, count, kills = "hush-hush", 60, 5
    port = int(world.target.url.rsplit(":", 1)[1])
    world.callbacks("many", secure=secret)
    world.target.close()
    done = []
    ended = threading.Event()

    def work():
        number = 0
        while number < count and not ended.is_set():
            try:
                payload = {"number": number}
                done.append(world.done("many", payload, number) if number % 2 else
                            world.failed("many", payload))
                number += 1
            except (OSError, Failure, ValueError, IndexError, http.client.HTTPException):
                ended.wait(0.02)        # the server is down; tasks it has accepted are found later

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    arrived = []
    try:
        for kill in range(kills):
            let_pass(0.4, "the kills come at any moment of the work")
            world.server.kill()
            if kill % 2 == 0:
                world.target = Target(port)
            else:
                arrived += world.target.calls
                world.target.close()
            world.server.start()
        worker.join(2 * PATIENCE)
        check(not worker.is_alive(), "the agent came to an end")
    finally:
        ended.set()
    wait_for(lambda: world.listed("type=many&state=pending"), lambda pending: not pending,
             "the last pending callback", within=2 * PATIENCE, pause=0.05)
    arrived += world.target.calls
    equal(world.listed("type=many&state=failed"), [], "dead letters")
    told = {}
    for call in arrived:
        told.setdefault(call.headers["webhook-id"], call)
    by_run = {one["run_id"]: one for one in world.listed("type=many&limit=500")}
    for run_id in done:
        check(by_run[run_id]["id"] in told, f"{run_id} was not told")
        state = world.run(run_id)["state"]
        event = by_run[run_id]["event"]
        equal(state, "succeeded" if event == "success" else "failed", "state")
    for call in told.values():
        check(world.verifier.python(secret, {name.lower(): value for name, value
                                             in call.headers.items()}, call.body.encode()),
              "a signature is wrong")
    say(f"  {len(done)} runs, {len(arrived)} calls, {len(told)} callbacks")


if __name__ == "__main__":
    given = arguments("KSANA STORE DOCS")
    run(given, lambda _: World(given))
