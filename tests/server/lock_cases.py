#!/usr/bin/env python3
"""Two servers on one PostgreSQL that keep their locks in Redis, which may be away.

usage: lock_cases.py KSANA [CASE…]

Only alerts and the trimming of the history use locks; everything else goes on without.
"""
import pathlib
import shutil
import subprocess
import urllib.parse

from kit.cases import arguments, case, run
from kit.checks import check, contains, equal
from kit.places import PARALLEL, Place
from kit.postgres import new_database
from kit.server import Server
from kit.targets import Target
from kit.times import after
from kit.waiting import stays_so, wait_until

START_REDIS = pathlib.Path(__file__).resolve().parent.parent / "support" / "start_redis.sh"


class OwnRedis:
    """A Redis for one case."""

    def __init__(self, folder):
        self.folder = folder
        self.url = self.script(str(folder))
        self.port = urllib.parse.urlsplit(self.url).port

    @staticmethod
    def script(*words):
        return subprocess.run(["bash", str(START_REDIS), *words], check=True,
                              capture_output=True, text=True).stdout.strip()

    def kill(self):
        self.script("stop", str(self.folder))

    def restart(self):
        equal(self.script(str(self.folder), "--port", str(self.port)), self.url, "address")

    def holder(self, key):
        """Returns the token of a lock; empty: nobody has it."""
        return subprocess.run(["redis-cli", "-p", str(self.port), "GET", key], check=True,
                              capture_output=True, text=True).stdout.strip()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class LockPlace(Place):
    def open(self):
        self.redis = self.enter_context(OwnRedis(self.new_folder("ksana_redis_")))
        self.target = self.enter_context(Target())
        self.store = new_database("locks")

    def server(self, **settings):
        made = Server(self.given.ksana, self.store, flags=["--lock", self.redis.url],
                      environment={"KSANA_CALLBACK_BACKOFF": "50ms", **settings})
        return self.enter_context(made).start()

    def alert(self, server, rule, job):
        server.call("PUT", f"/api/v1/alerts/{rule}",
                    {"on": "failure", "scope": {"job": job},
                     "webhook": {"url": f"{self.target.url}/alert/{rule}"}}, 201)

    def fails(self, server, name):
        """Makes a job that fails, with an alert, and awaits the notice."""
        server.create(id=name, schedule={"kind": "once", "run_at": after(86400)}, max_retries=0,
                      http={"method": "GET", "url": self.target.url + "/status/404"})
        self.alert(server, name, name)
        server.call("POST", f"/jobs/{name}/run-now", expect=202)
        notice = self.target.await_calls(f"/alert/{name}", 1)[0].json()
        equal(notice["event"], "opened", "notice")

    def runs_once(self, server, name):
        server.create(id=name, schedule={"kind": "once", "run_at": after(1)},
                      http={"method": "GET", "url": f"{self.target.url}/{name}"})
        self.target.await_calls(f"/{name}", 1)
        server.await_status(name, "success")

    def told_once(self, *rules):
        """No notice comes twice; two rounds of the alerter are waited for."""
        stays_so(lambda: all(len(self.target.of(f"/alert/{rule}")) == 1 for rule in rules),
                 "one notice for each incident", during=2, pause=0.1)


@case
def locks_are_in_redis(place):
    one, two = place.server(), place.server()
    for server in (one, two):
        settings = server.call("GET", "/api/v1/settings")
        shown = next(item for item in settings if item["key"] == "lock")
        equal((shown["value"], shown["source"]), (place.redis.url, "--lock"), "setting")
    place.fails(one, "first")
    check(place.redis.holder("ksana:lock:alerter"), "nobody has the lock of the alerts")
    place.runs_once(two, "plain")
    place.told_once("first")
    equal([one.stop(), two.stop()], [0, 0], "exit codes")


@case
def two_installations_share_redis(place):
    """With prefixes of their own, neither waits for the locks of the other."""
    one = place.server(KSANA_LOCK_PREFIX="one")
    place.fails(one, "first")
    place.store = new_database("locks")
    two = place.server(KSANA_LOCK_PREFIX="two")
    place.fails(two, "second")
    for prefix in ("one", "two"):
        check(place.redis.holder(f"{prefix}:lock:alerter"), f"{prefix} has no lock")
    equal([one.stop(), two.stop()], [0, 0], "exit codes")


@case
def everything_goes_on_without_redis(place):
    one, two = place.server(), place.server()
    place.fails(one, "before")
    place.redis.kill()
    place.fails(two, "without")
    place.runs_once(one, "plain")
    for server in (one, two):
        server.await_line("alerts go on without their lock")
        equal(server.request("GET", "/livez")[0], 200, "livez")
        equal(server.request("GET", "/readyz")[0], 200, "readyz")
    place.told_once("before", "without")
    place.redis.restart()
    wait_until(lambda: place.redis.holder("ksana:lock:alerter"), "the lock to be taken again")
    place.fails(one, "after")
    place.told_once("before", "without", "after")
    equal([one.stop(), two.stop()], [0, 0], "exit codes")


@case
def a_server_starts_while_redis_is_away(place):
    place.redis.kill()
    server = place.server()
    place.fails(server, "without")
    contains(f"127.0.0.1:{place.redis.port}",
             server.await_line("alerts go on without their lock"), "warning")
    place.runs_once(server, "plain")
    equal(server.stop(), 0, "exit code")


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda _: LockPlace(given), PARALLEL)
