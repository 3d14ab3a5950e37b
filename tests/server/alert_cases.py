#!/usr/bin/env python3
"""Alerts of the built server, by webhook and by mail, to real receivers (K-25).

usage: alert_cases.py KSANA STORE DOCS [CASE…]      STORE: sqlite, postgres; DOCS: callbacks.md
"""
import json
import pathlib
import tempfile
from datetime import timedelta

from kit.cases import arguments, case, run
from kit.checks import check, equal
from kit.documents import python_names
from kit.places import Place
from kit.postgres import store_of
from kit.server import Server
from kit.smtp_sink import SmtpSink
from kit.targets import Target
from kit.times import after, utc_now
from kit.waiting import let_pass, stays_so, wait_for, wait_until

SETTINGS = {"KSANA_CALLBACK_BACKOFF": "50ms", "KSANA_CALLBACK_MAX_BACKOFF": "200ms",
            "KSANA_CALLBACK_RETRIES": "1000", "KSANA_NODE_NAME": "one",
            "KSANA_SMTP_FROM": "ksana@example.com"}


class World(Place):
    def open(self):
        self.store, self.docs = store_of(self.given.store), self.given.docs
        self.server, self.target = None, Target()
        self.callback(lambda: self.target.close())      # a case may have replaced it

    def start(self, **settings):
        self.server = self.enter_context(Server(self.given.ksana, self.store,
                                                environment={**SETTINGS, **settings}))
        return self.server.start()

    def sink(self, **options):
        return self.enter_context(SmtpSink(**options))

    def api(self, method, path, body=None, expect=200):
        return self.server.call(method, "/api/v1" + path, body, expect)

    def alert(self, rule, on="failure", expect=201, **members):
        members.setdefault("webhook", {"url": f"{self.target.url}/alert/{rule}"})
        return self.api("PUT", f"/alerts/{rule}", {"on": on, **members}, expect)

    def job(self, name, path="/ok", **members):
        self.server.create(id=name, schedule={"kind": "once", "run_at": after(86400)},
                           max_retries=0, http={"method": "GET", "url": self.target.url + path},
                           **members)

    def run_job(self, name, path=None, wait=True):
        """Runs the job once, to its end. `path` changes the path that the job calls from now on."""
        if path:
            self.server.call("PATCH", f"/jobs/{name}", {"http": {"url": self.target.url + path}})
        before = self.runs_of(name)
        self.server.call("POST", f"/jobs/{name}/run-now", expect=202)
        if wait:
            wait_until(lambda: self.runs_of(name) != before, f"a run of {name}")

    def runs_of(self, name):
        return self.api("GET", f"/jobs/{name}")["total_runs"]

    def notices(self, name, count):
        calls = self.target.await_calls(f"/alert/{name}", count)
        return [call.json() for call in calls]

    def incident(self, rule, is_so, what):
        return wait_for(lambda: self.api("GET", f"/alert-incidents?rule={rule}")["items"],
                        lambda found: found and is_so(found[0]), f"an incident of {rule}: {what}",
                        pause=0.02)[0]

    def await_letter(self, is_so):
        found = wait_for(lambda: self.api("GET", "/callbacks")["items"],
                         lambda items: any(map(is_so, items)), "such a letter", pause=0.02)
        return next(filter(is_so, found))


@case
def k25_failure_and_recovery_by_webhook(world):
    world.start()
    world.job("nightly", "/status/404")
    world.alert("broken", name="Nightly is broken", scope={"job": "nightly"})
    world.run_job("nightly")
    opened = world.notices("broken", 1)[0]
    equal((opened["event"], opened["rule"]["name"]), ("opened", "Nightly is broken"), "the notice")
    incident = opened["incident"]
    equal((incident["subject"], incident["state"], incident["count"]), ("job:nightly", "open", 1),
          "the incident")
    check("404" in incident["message"], incident)
    # The same failure again belongs to the same incident, without another notice.
    world.run_job("nightly")
    world.incident("broken", lambda one: one["count"] == 2, "seen twice")
    world.run_job("nightly", "/ok")
    recovered = world.notices("broken", 2)[1]
    equal((recovered["event"], recovered["incident"]["state"]), ("recovered", "closed"), "notice")
    equal(recovered["incident"]["id"], incident["id"], "the same incident")
    # The next failure opens a new incident.
    world.run_job("nightly", "/status/404")
    again = world.notices("broken", 3)[2]
    equal(again["event"], "opened", "again")
    check(again["incident"]["id"] != incident["id"], "another incident")


@case
def k25_only_after_several_failures_and_in_scope(world):
    world.start()
    world.job("often", "/status/404", group="etl")
    world.job("other", "/status/404")
    world.alert("three", consecutive=3, scope={"group": "etl"})
    for _ in range(2):
        world.run_job("often")
        world.run_job("other")
    world.run_job("often", "/ok")
    # Long enough for two rounds of the alerter.
    stays_so(lambda: not world.api("GET", "/alert-incidents?rule=three")["items"],
             "no incident after a success in between", during=1.5, pause=0.1)
    for number in range(3):
        world.run_job("often", "/status/404" if number == 0 else None)
    notice = world.notices("three", 1)[0]
    equal((notice["incident"]["subject"], notice["incident"]["count"]), ("job:often", 3), "notice")


@case
def k25_signed_by_webhook(world):
    world.start()
    world.job("j", "/status/404")
    made = world.alert("safe", webhook={"url": f"{world.target.url}/alert/safe",
                                        "access_key": "ops", "secret": "hush-hush"})
    equal(made["webhook"]["secret"], "***", "the secret is not shown")
    # A client can send the answer back unchanged.
    body = {name: value for name, value in made.items()
            if name not in ("id", "version", "created_at", "updated_at")}
    world.api("PUT", "/alerts/safe", body)
    world.run_job("j")
    call = world.target.await_calls("/alert/safe")[0]
    headers = {name.lower(): value for name, value in call.headers.items()}
    verify = python_names(world.docs)["verify"]
    check(verify("hush-hush", headers, call.body.encode()), "the signature")
    equal(headers["ksana-access-key"], "ops", "who")
    letter, = world.api("GET", "/callbacks")["items"]
    check("hush" not in json.dumps([letter, world.api("GET", f"/runs/{letter['id']}")]), "a leak")


@case
def k25_by_mail(world):
    sink = world.sink(password="secret word")
    with tempfile.TemporaryDirectory() as folder:
        secret = pathlib.Path(folder, "password")
        secret.write_text("secret word\n", encoding="utf-8")
        secret.chmod(0o600)
        world.start(KSANA_SMTP_URL=sink.url, KSANA_SMTP_USER="ksana",
                    KSANA_SMTP_PASSWORD_FILE=str(secret), KSANA_SMTP_TLS="never")
    world.job("post", "/status/404")
    world.api("PUT", "/alerts/mail", {"on": "failure", "name": "Ärger",
                                      "email": ["a@example.com", "b@example.com"]}, 201)
    world.run_job("post")
    sender, recipients, mail = sink.await_mails(1)[0]
    equal((sender, recipients), ("ksana@example.com", ["a@example.com", "b@example.com"]), "who")
    equal(mail["Subject"], "[ksana] alert: failure of job post", "subject")
    text = mail.get_content()
    check("404" in text and "Ärger (mail)" in text, text)
    world.run_job("post", "/ok")
    equal(sink.await_mails(2)[1][2]["Subject"], "[ksana] over: failure of job post", "recovery")


@case
def k25_mail_that_does_not_get_through(world):
    """A wrong password or an untrusted certificate leads to a retry; a refused recipient makes
    the mail a dead letter."""
    sink = world.sink(refuse=["gone@example.com"])
    world.start(KSANA_SMTP_URL=sink.url)
    for name, address in (("refused", "gone@example.com"), ("taken", "here@example.com")):
        world.api("PUT", f"/alerts/{name}", {"on": "failure", "email": [address]}, 201)
        world.api("POST", f"/alerts/{name}/test", {}, 202)
    letter = world.await_letter(lambda one: one["state"] == "failed")
    check("gone@example.com" in letter["url"] and "550" in letter["last_error"], letter)
    equal(sink.await_mails(1)[0][2]["Subject"], "[ksana] test: failure of test taken", "subject")
    world.server.stop()

    unsigned = world.sink(tls=True)
    world.server.environment["KSANA_SMTP_URL"] = unsigned.url
    world.server.start()
    world.api("POST", "/alerts/taken/test", {}, 202)
    letter = world.await_letter(lambda one: one["state"] == "pending" and one["attempts"] > 1)
    check("SMTP" in letter["last_error"], letter)
    equal(unsigned.mails, [], "nothing was sent over a connection that cannot be trusted")
    world.server.stop()

    strict = world.sink(password="right")
    world.server.environment["KSANA_SMTP_URL"] = strict.url
    world.server.start()
    letter = world.await_letter(lambda one: one["state"] == "pending" and one["attempts"] > 3)
    world.server.stop()
    world.server.environment["KSANA_SMTP_URL"] = sink.url
    world.server.start()
    sink.await_mails(2)


@case
def k25_one_recipient_is_refused(world):
    """The other recipients get the mail. It is a dead letter only if all recipients are refused
    for good."""
    sink = world.sink(refuse=["gone@example.com", "left@example.com"], later=["busy@example.com"])
    world.start(KSANA_SMTP_URL=sink.url)

    def test(name, addresses):
        world.api("PUT", f"/alerts/{name}", {"on": "failure", "email": addresses}, 201)
        return world.api("POST", f"/alerts/{name}/test", {}, 202)

    test("some", ["gone@example.com", "here@example.com", "left@example.com"])
    equal(sink.await_mails(1)[0][1], ["here@example.com"], "who got it")
    letter = world.await_letter(lambda one: one["state"] == "delivered")
    attempt = world.api("GET", f"/runs/{letter['id']}")
    check("gone@example.com (550 nobody of that name)" in json.dumps(attempt), attempt)
    test("none", ["gone@example.com", "left@example.com"])
    letter = world.await_letter(lambda one: one["state"] == "failed")
    equal(letter["url"], "mailto:gone@example.com,left@example.com", "the dead letter")
    test("busy", ["busy@example.com", "gone@example.com"])
    world.await_letter(lambda one: one["state"] == "pending" and one["attempts"] > 2)
    sink.later.clear()
    equal(sink.await_mails(2)[1][1], ["busy@example.com"], "who was there later")


@case
def k25_missed_late_and_long(world):
    world.start(WORKERS="2")
    world.alert("missed", on="missed")
    world.alert("late", on="late", longer_than="500ms", scope={"job": "waits"})
    world.alert("long", on="long", longer_than="700ms")
    # Two hanging jobs take all slots. The next job is late; its notice comes when they end.
    for name in ("hang1", "hang2"):
        world.job(name, "/hang", timeout="4s")
        world.run_job(name, wait=False)
    world.target.await_calls("/hang", 2)
    world.job("waits")
    world.run_job("waits", wait=False)
    opened = world.notices("long", 2)
    equal({one["incident"]["subject"] for one in opened}, {"job:hang1", "job:hang2"}, "long")
    late = world.notices("late", 1)[0]
    equal(late["incident"]["subject"], "job:waits", "late")
    world.target.released.set()
    world.target.await_calls("/ok")
    world.run_job("waits")
    equal(world.notices("late", 2)[1]["event"], "recovered", "one that was in time")
    # A fire during downtime of the server.
    world.server.create(id="fires", schedule={"kind": "every", "every": "1s"},
                        misfire={"policy": "skip", "grace": "300ms"},
                        http={"method": "GET", "url": world.target.url + "/ok"})
    world.target.await_calls("/ok")
    world.server.kill()
    let_pass(2.5, "fires of the job are missed while the server is down")
    world.server.start()
    notices = world.notices("missed", 1)
    equal(notices[0]["incident"]["subject"], "job:fires", "missed")
    check("missed" in notices[0]["incident"]["message"], notices)
    # If the next fire comes before the alerter looks, one notice has both events.
    if notices[0]["event"] == "opened":
        notices = world.notices("missed", 2)
    equal(notices[-1]["event"], "recovered", "the next fire")


@case
def k25_quiet_hours_hold_back_and_sum_up(world):
    world.start()
    now = utc_now()
    text = lambda instant: instant.strftime("%H:%M")  # noqa: E731
    quiet = {"zone": "UTC", "from": text(now - timedelta(hours=1)),
             "to": text(now + timedelta(hours=1))}
    world.job("night", "/status/404")
    world.alert("quiet", quiet=quiet)
    world.run_job("night")
    world.run_job("night")
    world.incident("quiet", lambda one: one["count"] == 2, "seen twice")
    equal(world.target.of("/alert/quiet"), [], "no notice")
    quiet["from"], quiet["to"] = text(now + timedelta(hours=2)), text(now + timedelta(hours=3))
    world.alert("quiet", quiet=quiet, expect=200)
    notice, = world.notices("quiet", 1)
    equal((notice["event"], notice["incident"]["count"]), ("opened", 2), "one notice for both")


@case
def k25_told_across_restarts(world):
    world.start()
    port = int(world.target.url.rsplit(":", 1)[1])
    world.job("j", "/status/404")
    world.alert("once")
    world.run_job("j")
    world.notices("once", 1)
    # The receiver is down and the server is killed; the notice still arrives, exactly once.
    world.server.call("PATCH", "/jobs/j", {"http": {"url": world.target.url + "/ok"}})
    world.run_job("j")
    world.server.kill()
    calls = world.target.of("/alert/once")
    world.target.close()
    world.server.start()
    world.incident("once", lambda one: one["state"] == "closed", "closed")
    world.server.kill()
    world.target = Target(port)
    world.server.start()
    if not any(call.json()["event"] == "recovered" for call in calls):
        world.notices("once", 1)
    ids = {call.headers["webhook-id"] for call in calls + world.target.of("/alert/once")}
    equal(len(ids), 2, "notices")


@case
def k25_hostile_rules_are_refused(world):
    world.start()
    for body, pointer in (
            ({}, "/on"), ({"on": "failure"}, ""), ({"on": "never"}, "/on"),
            ({"on": "late", "email": ["a@b.c"]}, "/longer_than"),
            ({"on": "failure", "longer_than": "5s", "email": ["a@b.c"]}, "/longer_than"),
            ({"on": "failure", "email": ["a@b.c\r\nBcc: x@y.z"]}, "/email/0"),
            ({"on": "failure", "email": ["nobody"]}, "/email/0"),
            ({"on": "failure", "webhook": {"url": "ftp://x/"}}, "/webhook/url"),
            ({"on": "failure", "webhook": {"url": "http://x/", "secret": "***"}},
             "/webhook/secret"),
            ({"on": "failure", "email": ["a@b.c"], "remind_every": "1s"}, "/remind_every"),
            ({"on": "failure", "email": ["a@b.c"], "consecutive": 0}, "/consecutive"),
            ({"on": "failure", "email": ["a@b.c"], "quiet": {"from": "25:00", "to": "7"}},
             "/quiet/from"),
            ({"on": "long", "email": ["a@b.c"], "factor": 0.5}, "/factor"),
            ({"on": "failure", "email": ["a@b.c"], "scop": {}}, "/scop")):
        status, _, content = world.server.request("PUT", "/api/v1/alerts/x", body)
        equal(status, 400, f"{body}")
        check(pointer in [fault["pointer"] for fault in content["errors"]], f"{body}: {content}")
    world.api("GET", "/alerts/x", None, 404)
    world.api("POST", "/alerts/x/test", {}, 404)
    equal(world.api("GET", "/alerts")["items"], [], "nothing was made")


if __name__ == "__main__":
    given = arguments("KSANA STORE DOCS")
    run(given, lambda _: World(given))
