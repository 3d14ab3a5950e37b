#!/usr/bin/env python3
"""Several servers on one PostgreSQL: what they share, and what happens when one dies.

usage: node_cases.py KSANA [CASE…]
"""
import json
import signal
import subprocess
import threading
import time
from datetime import timedelta

from clock_cases import Clock
from cluster import NodesPlace, beats, check_fires, name_of, stop_firing
from kit.agent_client import await_polls, claim, submit
from kit.api_client import Api
from kit.cases import arguments, case, run, say
from kit.checks import check, contains, equal
from kit.postgres import OwnPostgres, new_database, psql
from kit.server import Server
from kit.times import text_of, time_of, utc_now
from kit.waiting import PATIENCE, let_pass, stays_so, wait_for, wait_until
from support.with_pgbouncer import pgbouncer

FAILOVER = 3            # seconds from a kill to the start elsewhere
SETTLE = 3              # seconds in which a new server judges no other
LEASE = 3               # seconds, in cases in which the lease decides
PARALLEL = 6            # cases mostly wait


def states(server):
    return {node["name"]: node["state"] for node in server.call("GET", "/api/v1/nodes")["items"]}


def await_settled(nodes):
    """A server judges no other during its first seconds."""
    started = max(time_of(node["started_at"])
                  for node in nodes[0].call("GET", "/api/v1/nodes")["items"])
    rest = SETTLE + 0.5 - (utc_now() - started).total_seconds()
    let_pass(max(0, rest), "a new server judges no other at first")


def cut_session(store, node):
    """Ends the connection with which a server shows that it lives. Returns how many there were."""
    incarnation = node.call("GET", f"/api/v1/nodes/{name_of(node)}")["incarnation"]
    return psql(store, "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = "
                "'advisory' AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = "
                f"hashtextextended('ksana node ' || '{incarnation}', 0)")


# K-24: no leader and no configuration beyond the URL.
@case
def three_servers_fire_once(place):
    nodes = place.nodes(3)
    beats(place, nodes[0], 10)
    place.target.await_calls("/beat/0", 15)
    stop_firing(nodes[1], 10)
    check_fires(place.target, 10)


# K-24
@case
def servers_are_listed(place):
    first, second = place.nodes(2)
    api = Api(first)
    items = api.call("GET", "/api/v1/nodes")["items"]
    equal([node["name"] for node in items], ["n1", "n2"], "names")
    equal([node["self"] for node in items], [True, False], "self")
    equal([node["address"] for node in items], [first.url, second.url], "addresses")
    equal([node["state"] for node in items], ["alive", "alive"], "states")
    equal([node["lease"] for node in items], ["15s", "15s"], "leases")
    equal(api.call("GET", "/api/v1/nodes/n2")["address"], second.url, "address")
    api.call("GET", "/api/v1/nodes/n3", expect=404)
    table = subprocess.run([place.given.ksana, "node", "list", "--server", first.url, "--state",
                            "alive", "-o", "name"], check=True, capture_output=True, text=True)
    equal(table.stdout.split(), ["n1", "n2"], "ksana node list")
    contains('ksana_nodes{state="alive"} 2\n', first.request("GET", "/metrics")[2], "metrics")
    # A stop is visible at once, first as such and then as its end.
    _, leaving, other = place.hanging_run([first, second])
    name = name_of(leaving)
    leaving.process.send_signal(signal.SIGTERM)
    wait_until(lambda: states(other)[name] == "stopping", f"{name} to be stopping", within=2)
    place.target.released.set()
    equal(leaving.process.wait(PATIENCE), 0, "exit code")
    equal(states(other), {name: "gone", name_of(other): "alive"}, "states")
    # Rows of servers are no part of an export.
    exported = subprocess.run([place.given.ksana, "export", "--store", place.store], check=True,
                              capture_output=True, text=True).stdout
    kinds = {json.loads(line).get("document", {}).get("kind") for line in exported.splitlines()}
    check("node" not in kinds, f"exported: {kinds}")


# A server of a later version is among them: its row has members that this version does not know.
@case
def a_later_version_is_tolerated(place):
    first, = place.nodes(1)
    body = json.dumps({"name": "n9", "incarnation": "i9", "version": "99.1", "lease": "1h",
                       "heartbeat_at": text_of(utc_now()), "zone": {"rack": 7}, "roles": ["a"]})
    psql(place.store, "INSERT INTO ksana.documents (kind, key, version, body, updated_at) "
         f"VALUES ('node', 'n9', 1, '{body}', 0)")
    second = place.node("n2")
    node = second.call("GET", "/api/v1/nodes/n9")
    equal((node["version"], node["state"]), ("99.1", "alive"), "node")
    beats(place, first, 1)
    place.target.await_calls("/beat/0", 3)
    # It has no session, so it is dead; marking it keeps the rest of its row readable.
    wait_until(lambda: states(second)["n9"] == "down", "n9 to be found dead", within=10)
    equal(first.call("GET", "/api/v1/nodes/n9")["version"], "99.1", "version")


# G-04: a cancel reaches the owner at once, whichever server gets it.
@case
def a_cancel_on_any_server_reaches_the_owner(place):
    nodes = place.nodes(3)
    run_id, owner, _ = place.hanging_run(nodes)
    other = next(node for node in reversed(nodes) if node is not owner)
    began = time.monotonic()
    other.call("POST", f"/api/v1/runs/{run_id}/cancel", {}, 202)
    wait_for(lambda: other.call("GET", f"/api/v1/runs/{run_id}")["state"],
             lambda state: state == "cancelled", "the run to be cancelled", within=1)
    say(f"cancel on another server: {time.monotonic() - began:.3f} s")


# A poll on one server is answered by a submit on another, without waiting for its next look.
@case
def a_submit_on_one_server_answers_a_poll_on_another(place):
    first, second = (Api(node) for node in place.nodes(2))
    for _ in range(3):
        answers = []
        poll = threading.Thread(target=lambda: answers.append(
            (claim(first, worker="w", types=["mail"], wait="20s"), time.monotonic())))
        poll.start()
        await_polls(first, 1)
        began = time.monotonic()
        sent = submit(second, "mail")
        poll.join()
        runs, at = answers[0]
        equal([run["run_id"] for run in runs], [sent["id"]], "claimed runs")
        check(at - began < 1, f"the poll was answered after {at - began:.2f} s")


# K-24: every server is restarted under load; nothing is lost, nothing doubled.
@case(first=True)
def a_rolling_restart_loses_nothing(place):
    nodes = place.nodes(3)
    beats(place, nodes[0], 10)
    for node in nodes:
        before = len(place.target.calls)
        wait_until(lambda known=before: len(place.target.calls) > known + 30, "fires go on")
        equal(node.stop(), 0, "exit code")
        node.start()
    place.target.await_calls("/beat/0", len(place.target.of("/beat/0")) + 3)
    stop_firing(nodes[0], 10)
    check_fires(place.target, 10)
    equal(states(nodes[0]), {"n1": "alive", "n2": "alive", "n3": "alive"}, "states")


# The clocks of two servers are 90 s apart; the database's clock decides.
@case
def wrong_clocks_fire_on_time_and_once(place):
    folder = place.new_folder("ksana_clock_")
    fast, slow = Clock(str(folder)), None
    fast.jump(timedelta(seconds=90))
    (folder / "slow").mkdir()
    slow = Clock(str(folder / "slow"))
    nodes = [place.node("fast", **fast.environment()), place.node("true"),
             place.node("slow", **slow.environment())]
    slow.jump(timedelta(seconds=-90))
    beats(place, nodes[1], 6)
    place.target.await_calls("/beat/0", 15)
    stop_firing(nodes[1], 6)
    check_fires(place.target, 6)
    for number in range(6):
        for call in place.target.of(f"/beat/{number}"):
            early = time_of(call.headers["Ksana-Scheduled-At"]) - call.at
            check(early < timedelta(milliseconds=20), f"a fire came {early} early")
    owners = {run["owner"].split("/")[0] for run in nodes[1].call(
        "GET", "/api/v1/runs?limit=500")["items"]}
    check(len(owners) > 1, f"only {owners} worked")
    equal(set(states(nodes[1]).values()), {"alive"}, "states")


# D-10: a killed server's runs start elsewhere within three seconds, with the settings' defaults.
@case
def a_killed_server_is_replaced_at_once(place):
    nodes = place.nodes(2)
    await_settled(nodes)
    run_id, owner, other = place.hanging_run(nodes)
    # Its session is cut, but it lives: it takes its lock again before anybody looks twice.
    equal(cut_session(place.store, owner), "1", "sessions that were cut")
    stays_so(lambda: len(place.target.of("/hang")) == 1, "one call", during=2.5)
    killed = time.monotonic()
    owner.kill()
    place.target.await_calls("/hang", 2, FAILOVER)
    say(f"kill to start elsewhere: {time.monotonic() - killed:.2f} s")
    run = other.call("GET", f"/api/v1/runs/{run_id}")
    equal([attempt.get("outcome") for attempt in run["attempts"]], ["lost", None], "attempts")
    equal(run["failures"], 1, "failures")
    wait_until(lambda: states(other)[name_of(owner)] == "down", "it to be down", within=1)
    place.target.released.set()
    Api(other).await_state(run_id, "succeeded")
    equal(len(place.target.of("/hang")), 2, "calls")


# A second server would take over the runs of the first, which goes on with them.
@case
def a_second_server_with_the_same_name_is_refused(place):
    first, = place.nodes(1)
    second = Server(place.given.ksana, place.store,
                    environment={"KSANA_NODE_NAME": name_of(first)})
    with second:
        done = subprocess.run([second.binary, "server"], cwd=second.folder, capture_output=True,
                              env=second.environment, text=True, check=False, timeout=30)
    equal(done.returncode, 5, done.stderr)
    contains("another server lives under the name", done.stderr)
    contains(first.url, done.stderr)
    equal(states(first)[name_of(first)], "alive")
    # After a crash the name is free as soon as the database has noticed, not after the lease.
    first.kill()
    begun = time.monotonic()
    first.start()
    took = time.monotonic() - begun
    say(f"start after a kill: {took:.2f} s")
    check(took < 10, f"{took} s of a lease of 15")
    first.call("GET", "/readyz")


# A stopped process keeps its session; its lease decides. When it wakes up, it stops what runs.
@case
def a_frozen_server_is_replaced_after_its_lease(place):
    nodes = place.nodes(2, KSANA_LEASE=f"{LEASE}s")
    await_settled(nodes)
    run_id, owner, other = place.hanging_run(nodes)
    frozen = time.monotonic()
    owner.process.send_signal(signal.SIGSTOP)
    try:
        place.target.await_calls("/hang", 2, LEASE + 1)
        took = time.monotonic() - frozen
        say(f"stop to start elsewhere, lease {LEASE} s: {took:.2f} s")
        check(took < LEASE + 0.5, f"{took:.2f} s")
        wait_until(lambda: states(other)[name_of(owner)] == "down", "it to be down", within=LEASE)
        contains("not heard of in time", other.call(
            "GET", f"/api/v1/runs/{run_id}")["attempts"][0]["error"], "error of the attempt")
    finally:
        owner.process.send_signal(signal.SIGCONT)
    # It learns that its lease is gone, drops the call, and is one of the servers again.
    wait_until(lambda: Api(owner).call("GET", f"/api/v1/nodes/{name_of(owner)}")["busy"] == 0,
               "it to have stopped its call")
    wait_until(lambda: set(states(other).values()) == {"alive"}, "it to be back")
    place.target.released.set()
    run = Api(other).await_state(run_id, "succeeded")
    equal([attempt["outcome"] for attempt in run["attempts"]], ["lost", "succeeded"], "attempts")
    equal(len(place.target.of("/hang")), 2, "calls")


# D-11: connections that are cut, and a database that is restarted, orphan nothing.
@case(first=True)
def a_restart_of_the_database_orphans_nothing(place):
    database = place.enter_context(OwnPostgres())
    place.store = database.url
    nodes = place.nodes(2)
    run_id, _, other = place.hanging_run(nodes)
    psql(database.url, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
         "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
    database.stop()
    database.start()
    began = time.monotonic()
    # Longer than a server needs to find another dead: the settling time and two looks.
    stays_so(lambda: len(place.target.of("/hang")) == 1, "one call", during=SETTLE + 3)
    say(f"watched for {time.monotonic() - began:.1f} s after the restart")
    place.target.released.set()
    run = Api(other).await_state(run_id, "succeeded")
    equal(run["attempt"], 1, "attempts")
    wait_until(lambda: states(other) == {"n1": "alive", "n2": "alive"}, "both to be alive")


# Behind a pooler there are no sessions: the lease alone decides.
@case
def behind_a_pooler_the_lease_decides(place):
    place.store = new_database("nodes")
    pooled = place.enter_context(pgbouncer(place.store)) + "?ksana_pooler=transaction"
    place.store = pooled
    nodes = place.nodes(2, KSANA_LEASE=f"{LEASE}s")
    nodes[0].await_line("is noticed by its lease only")
    _, owner, _ = place.hanging_run(nodes)
    killed = time.monotonic()
    owner.kill()
    # Without a listener, the reaper looks every five seconds.
    place.target.await_calls("/hang", 2, LEASE + 6)
    check(time.monotonic() - killed > LEASE / 2, "nothing can know that it is dead")


def main():
    given = arguments("KSANA")
    run(given, lambda _: NodesPlace(given), PARALLEL)


if __name__ == "__main__":
    main()
