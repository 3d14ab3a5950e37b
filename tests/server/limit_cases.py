#!/usr/bin/env python3
"""Limits and breakers: the built server and a target that counts its calls.

usage: limit_cases.py KSANA STORE [CASE…]      STORE: sqlite, json, postgres
"""
import contextlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from kit.cases import arguments, case
from kit.checks import check, equal
from kit.contract import Client
from kit.places import run_on_store
from kit.server import Server
from kit.targets import Target
from kit.times import time_of, utc_now
from kit.waiting import PATIENCE, stays_so, wait_for, wait_until

HOUR = {"kind": "every", "every": "1h"}


class Api(Client):
    """Jobs, runs and limits of one server."""

    def create(self, job_id, url, **more):
        job = {"id": job_id, "name": job_id, "http": {"url": url}, "schedule": HOUR,
               "overlap": "allow", "retry": {"strategy": "fixed", "max_retries": 2,
                                             "interval": "100ms"}, **more}
        self.call("POST", "/api/v1/jobs", job, 201)

    def start(self, job_id, count=1):
        path = f"/api/v1/jobs/{job_id}/run"
        return [self.call("POST", path, {}, 202)["id"] for _ in range(count)]

    def limit(self, path, expect=201, **limit):
        """Stores the limit, and waits until this node has loaded it."""
        answer = self.call("PUT", path, limit, expect)
        kind, name = path.split("/")[-2:]
        kind = "group" if kind == "groups" else kind
        wait_until(lambda: self.knows(kind, name), f"the node to learn of {path}")
        return answer

    def knows(self, kind, name):
        return f'ksana_limit_in_use{{kind="{kind}",name="{name}"}}' in self.metrics()

    def metrics(self):
        return self.server.request("GET", "/metrics")[2]

    def use(self, kind, name):
        for item in self.call("GET", "/api/v1/limits")["items"]:
            if (item["kind"], item["name"]) == (kind, name):
                return item
        return None

    def run_of(self, run_id):
        return self.call("GET", f"/api/v1/runs/{run_id}")

    def await_all(self, run_ids, is_so, what, patience=PATIENCE):
        left = list(run_ids)

        def not_so():
            """Returns the first run for which `is_so` does not hold yet; None if it holds for
            all."""
            while left:
                run = self.run_of(left[0])
                if not is_so(run):
                    return run
                left.pop(0)
            return None

        wait_for(not_so, lambda run: run is None, f"all runs to be {what}", patience, pause=0.02)

    def await_end(self, run_ids, state="succeeded", patience=PATIENCE):
        self.await_all(run_ids, lambda run: run["state"] == state, state, patience)


@case
def of_a_group_of_two_never_more_than_two_run(api, target):
    """N-20"""
    api.limit("/api/v1/groups/narrow", max_concurrency=2)
    api.create("narrow", target.url + "/slow/0.1", group="narrow")
    elsewhere = Target()
    api.create("wide", elsewhere.url + "/ok", group="wide")
    runs = api.start("narrow", 20)
    other, = api.start("wide")
    api.await_end([other])
    elsewhere.close()
    check(len(target.of("/slow/0.1")) < 20, "the other group had to wait")
    api.await_end(runs)
    equal(target.most_at_once, 2, "at once")
    for run_id in runs:
        attempts = api.run_of(run_id)["attempts"]
        equal([attempt["outcome"] for attempt in attempts], ["succeeded"], "attempts")
    group = api.call("GET", "/api/v1/groups/narrow")
    equal((group["jobs"], group["max_concurrency"], group["running"]), (1, 2, 0), "the group")


@case
def a_rate_is_kept(api, target):
    """N-20: twelve runs at five a second take more than two seconds, and not much more."""
    host = target.url.split("//")[1]
    api.limit(f"/api/v1/limits/host/{host}", rate={"count": 5, "per": "1s"})
    api.create("steady", target.url + "/ok")
    api.await_end(api.start("steady", 12))
    times = [call.at.timestamp() for call in target.of("/ok")]
    for first, sixth in zip(times, times[5:]):
        check(sixth - first > 0.9, f"six within a second: {times}")
    check(times[-1] - times[0] < 8, f"too slow: {times}")


@case
def a_limit_of_a_type_and_its_life(api, target):
    api.limit("/api/v1/limits/type/mail", max_concurrency=3)
    status, headers, _ = api.send("PUT", "/api/v1/limits/type/mail", {"max_concurrency": 4})
    equal(status, 200, "replaced")
    api.call("PUT", "/api/v1/limits/type/mail", {"max_concurrency": 5}, 412, If_Match='"1-x"')
    api.call("PUT", "/api/v1/limits/type/mail", {"max_concurrency": 5}, If_Match=headers["ETag"])
    api.call("PUT", "/api/v1/limits/type/mail", {"max_concurrency": 6}, 412, If_None_Match="*")
    equal(api.use("type", "mail")["max_concurrency"], 5, "what is stored")
    problem = api.call("PUT", "/api/v1/limits/type/mail", {"max_concurency": 6}, 400)
    check("max_concurrency" in str(problem), f"no suggestion in {problem}")
    api.call("PUT", "/api/v1/limits/type/mail", {}, 400)
    api.call("PUT", "/api/v1/limits/host/a%20b", {"max_concurrency": 6}, 400)
    api.call("DELETE", "/api/v1/limits/type/mail", None, 204)
    api.call("DELETE", "/api/v1/limits/type/mail", None, 404)
    equal(api.use("type", "mail"), None, "it is gone")
    node = api.use("node", "")
    equal((node["max_concurrency"], node["breaker"]), (16, None), "the node's own")


@case
def a_limit_of_a_type_holds_for_agents(api, target):
    """N-20: two agents wait and get one task at a time; a third gets other work meanwhile."""
    api.limit("/api/v1/limits/type/mail", max_concurrency=1)
    tasks = [{"type": "mail"}] * 4 + [{"type": "pdf"}]
    api.call("POST", "/api/v1/runs/batch", {"runs": tasks})

    def fetch(worker, types, wait="0s"):
        status, _, answer = api.send("POST", "/api/v1/agent/claim", {
            "worker": worker, "types": types, "max": 10, "wait": wait})
        return answer["runs"] if status == 200 else []

    first, = fetch("a", ["mail"], "20s")  # waits until the node has its share of the limit
    equal(fetch("b", ["mail"]), [], "there is no room")
    equal([run["type"] for run in fetch("c", [])], ["pdf"], "other types have")
    equal(api.use("type", "mail")["in_use"], 1, "in use")
    for _ in range(3):
        with ThreadPoolExecutor(1) as pool:
            waits = pool.submit(fetch, "b", ["mail"], "20s")
            api.call("POST", f"/api/v1/agent/runs/{first['run_id']}/succeed",
                     {"exec_id": first["exec_id"]}, 204)
            first, = waits.result()


@case
def groups_are_listed_paused_and_resumed(api, target):
    for number in range(7):
        api.create(f"j{number}", target.url + "/ok", group=f"g{number % 3}")
    api.call("PUT", "/api/v1/groups/empty", {"description": "for later"}, 201)
    names, path = [], "/api/v1/groups?limit=2"
    while path:
        page = api.call("GET", path)
        names += [group["name"] for group in page["items"]]
        path = page["next_cursor"] and f"/api/v1/groups?limit=2&cursor={page['next_cursor']}"
    equal(names, ["empty", "g0", "g1", "g2"], "groups")
    outcome = api.call("POST", "/api/v1/groups/g0/pause", {"reason": "month end"})
    equal(outcome["changed_count"], 3, "paused")
    group = api.call("GET", "/api/v1/groups/g0")
    equal((group["jobs"], group["paused_jobs"], group["version"]), (3, 3, 0), "the group")
    equal(api.call("GET", "/api/v1/jobs/j0")["paused_reason"], "month end", "the reason")
    equal(api.call("POST", "/api/v1/groups/g0/resume")["changed_count"], 3, "resumed")
    api.call("GET", "/api/v1/groups/none", None, 404)
    api.call("POST", "/api/v1/groups/none/pause", {}, 404)
    api.call("DELETE", "/api/v1/groups/empty", None, 204)
    api.call("GET", "/api/v1/groups/empty", None, 404)


@case
def a_waiting_run_is_cancelled_at_once(api, target):
    api.limit("/api/v1/groups/one", max_concurrency=1)
    api.create("one", target.url + "/hang", group="one")
    first, second = api.start("one", 2)
    target.await_calls("/hang")
    waiting = second if target.of("/hang")[0].headers["X-Ksana-Run-Id"] == first else first
    # The run waits at its owner, which must be told of the cancel.
    api.await_end([waiting], "running")
    # 200 if that is done before the answer is made.
    status, _, _ = api.send("POST", f"/api/v1/runs/{waiting}/cancel")
    check(status in (200, 202), status)
    api.await_end([waiting], "cancelled")
    equal(len(target.of("/hang")), 1, "calls")


@case
def a_dead_target_uses_up_no_attempts(api, target):
    """The breaker opens and runs wait. A probe succeeds once the target is back, and the breaker
    closes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    host = f"127.0.0.1:{port}"
    api.create("dead", f"http://{host}/ok")
    failing = api.start("dead", 3)  # three failures open the breaker
    wait_until(lambda: (api.use("host", host) or {}).get("breaker", {}).get("state", "closed")
               != "closed", "the breaker to open", pause=0.02)
    waiting = api.start("dead", 10)
    # An attempt that is in flight has no outcome yet.
    api.await_all(waiting[:5], lambda run: run["attempts"][-1:] and
                  run["attempts"][-1].get("outcome") == "deferred", "deferred")

    def all_wait():
        runs = [api.run_of(run_id) for run_id in waiting]
        return all(run["failures"] == 0 and run["state"] in ("scheduled", "queued", "running")
                   for run in runs)

    # Long enough for several probes of the breaker; all of them fail.
    stays_so(all_wait, "waiting without failures", during=3, pause=0.5)
    check('ksana_runs_deferred_total{reason="breaker_open",kind="host"}' in api.metrics(),
          "no metric")
    back = Target(port)
    try:
        api.await_end(waiting, patience=90)
        api.await_all(failing, lambda run: run["state"] in ("succeeded", "failed"), "over")
        for run_id in waiting:
            check(api.run_of(run_id)["failures"] == 0, "an attempt was used up")
        use = api.use("host", host)
        check(use is None, f"it did not close: {use}")
    finally:
        back.close()


@case
def a_busy_path_silences_itself_only_and_can_be_reset(api, target):
    """503 with a long Retry-After: for this path, for ten minutes at most, until it is reset."""
    host = target.url.removeprefix("http://")
    api.create("busy", target.url + "/busy/3600")
    api.create("other", target.url + "/ok/other")
    api.start("busy", 3)            # three failures open the breaker of the path
    wait_until(lambda: (api.use("host", host + "/busy/3600") or {}).get("breaker", {}).get("state")
               == "open", "the breaker to open", pause=0.02)
    breaker = api.use("host", host + "/busy/3600")["breaker"]
    ahead = time_of(breaker["retry_at"]) - utc_now()
    check(timedelta(minutes=9) < ahead <= timedelta(minutes=10), f"it is open for {ahead}")
    equal(api.use("host", host), None, "the host is up")
    waiting = api.start("busy", 3)
    api.await_all(waiting, lambda run: run["attempts"][-1:] and
                  run["attempts"][-1].get("outcome") == "deferred", "deferred")
    api.await_end(api.start("other", 3))
    target.released.set()
    answer = api.call("POST", f"/api/v1/limits/host/{host}/reset-breaker", None, 202)
    equal(answer, {"host": host, "open": [host + "/busy/3600"]}, "what is reset")
    api.await_end(waiting)
    check(all(api.run_of(run_id)["failures"] == 0 for run_id in waiting), "no failures")
    event, = api.call("GET", "/api/v1/audit?action=breaker_reset")["items"]
    equal((event["resource_type"], event["resource_id"]), ("limit", "host/" + host), "audit")
    api.call("POST", f"/api/v1/limits/host/{host}/reset-breaker", None, 202)     # nothing is open
    api.call("POST", "/api/v1/limits/host/a%20b/reset-breaker", None, 400)


@case
def a_reset_reaches_all_nodes(api, target):
    host = target.url.removeprefix("http://")
    with another_node(api) as there:
        if there is None:
            return
        api.create("busy", target.url + "/busy/3600")
        api.start("busy", 12)       # some of them on each node
        path = host + "/busy/3600"
        wait_until(lambda: any((node.use("host", path) or {}).get("breaker", {}).get("state")
                               == "open" for node in (api, there)), "a breaker to open", pause=0.02)
        target.released.set()
        for asked in (api, there):
            asked.call("POST", f"/api/v1/limits/host/{host}/reset-breaker", None, 202)
            wait_until(lambda: not api.use("host", path) and not there.use("host", path),
                       "both nodes to forget it")


@contextlib.contextmanager
def another_node(api):
    """A second server on the store of the first; None where only one may use it."""
    if "postgres" not in api.server.store:
        yield None
        return
    other = Server(api.server.binary, api.server.store, environment={"WORKERS": "16"})
    try:
        other.start()
        yield Api(other)
    finally:
        other.close()


def share(api, kind, name):
    return api.use(kind, name)["cluster"]["share"]


@case
def another_node_learns_of_a_limit(api, target):
    with another_node(api) as there:
        if there is None:
            return
        api.limit("/api/v1/groups/both", max_concurrency=2)
        wait_until(lambda: there.knows("group", "both"), "the other node to learn of the limit")
        api.call("DELETE", "/api/v1/groups/both", None, 204)
        wait_until(lambda: not there.knows("group", "both"), "the other node to forget the limit")


@case
def a_limit_holds_over_two_nodes(api, target):
    """Twenty slow runs, asked for on both: never more than two at once, and both nodes get turns.
    Then one is killed, and the other has both places within seconds."""
    with another_node(api) as there:
        if there is None:
            equal(api.use("node", "")["cluster"], None, "the only server shares nothing")
            return
        api.limit("/api/v1/groups/pair", max_concurrency=2)
        wait_until(lambda: there.knows("group", "pair"), "the other node to learn of the limit")
        api.create("pair", target.url + "/slow/0.15", group="pair")
        runs = api.start("pair", 10) + there.start("pair", 10)
        wait_until(lambda: share(api, "group", "pair")["max_concurrency"] == 1 and
                   share(there, "group", "pair")["max_concurrency"] == 1,
                   "each node to have a place", pause=0.02)
        use = api.use("group", "pair")["cluster"]
        equal(use["nodes"], 2, "nodes")
        check(use["in_use"] <= 2, f"in use: {use}")
        api.await_end(runs)
        equal(target.most_at_once, 2, "at once")
        owners = {api.run_of(run)["attempts"][-1]["owner"] for run in runs}
        equal(len(owners), 2, f"nodes that had turns: {owners}")
        api.create("later", target.url + "/slow/0.5", group="pair")
        there.start("later", 8)
        wait_until(lambda: share(there, "group", "pair")["max_concurrency"] > 0,
                   "the node to have a share when it is killed", pause=0.02)
        there.server.kill()
        api.start("later", 16)  # enough work to outlast the share of the dead node
        wait_until(lambda: share(api, "group", "pair")["max_concurrency"] == 2,
                   "the share of the dead node", pause=0.02)


@case
def a_rate_holds_over_two_nodes(api, target):
    """Sixteen runs at five a second, on two nodes."""
    with another_node(api) as there:
        if there is None:
            return
        host = target.url.split("//")[1]
        api.limit(f"/api/v1/limits/host/{host}", rate={"count": 5, "per": "1s"})
        wait_until(lambda: there.knows("host", host), "the other node to learn of the limit")
        api.create("steady", target.url + "/ok")
        api.await_end(api.start("steady", 8) + there.start("steady", 8))
        times = [call.at.timestamp() for call in target.of("/ok")]
        for first, sixth in zip(times, times[5:]):
            check(sixth - first > 0.9, f"six within a second: {times}")
        check(times[-1] - times[0] < 10, f"too slow: {times}")


@case
def a_node_that_stops_gives_its_share_back(api, target):
    with another_node(api) as there:
        if there is None:
            return
        api.limit("/api/v1/groups/kept", max_concurrency=2)
        wait_until(lambda: there.knows("group", "kept"), "the other node to learn of the limit")
        api.create("kept", target.url + "/ok", group="kept")
        there.await_end(there.start("kept"))
        there.server.stop()
        began = time.monotonic()
        api.await_end(api.start("kept", 2))
        check(time.monotonic() - began < 3, "it waited for the end of the share")


if __name__ == "__main__":
    run_on_store(arguments("KSANA STORE"), lambda server, target: (Api(server), target),
                 environment={"WORKERS": "16"},
                 flags=("--breaker-failures", "3", "--breaker-pause", "500ms",
                        "--breaker-max", "1s"))
