"""Several servers on one PostgreSQL, and jobs that show whether each of their fires came once."""
from collections import Counter
from datetime import timedelta

from kit.checks import check
from kit.places import Place
from kit.postgres import new_database
from kit.server import Server
from kit.targets import Target
from kit.times import after, text_of, time_of, utc_now
from kit.waiting import wait_until


class NodesPlace(Place):
    def open(self):
        self.target = self.enter_context(Target())
        self.store = None

    def node(self, name, binary=None, **settings):
        """Returns a server that is started, on the store of all the others. `binary`: `ksana` of
        another version."""
        self.store = self.store or new_database("nodes")
        environment = {"WORKERS": "16", "KSANA_NODE_NAME": name, **settings}
        made = Server(binary or self.given.ksana, self.store, environment=environment)
        return self.enter_context(made).start()

    def nodes(self, count, **settings):
        return [self.node(f"n{number}", **settings) for number in range(1, count + 1)]

    def hanging_run(self, nodes):
        """Starts a run that waits for its target. Returns its id, the server that has it, and
        another one."""
        nodes[0].create(id="hangs", schedule={"kind": "once", "run_at": after(86400)},
                        timeout="60s", http={"method": "GET", "url": self.target.url + "/hang"})
        run_id = nodes[0].call("POST", "/jobs/hangs/run-now", expect=202)["run_id"]
        self.target.await_calls("/hang", 1)
        owner = nodes[0].call("GET", f"/api/v1/runs/{run_id}")["owner"].split("/")[0]
        return (run_id, next(node for node in nodes if name_of(node) == owner),
                next(node for node in nodes if name_of(node) != owner))


def name_of(server):
    return server.environment["KSANA_NODE_NAME"]


def beats(place, server, jobs, every="200ms"):
    """Makes jobs that fire often, on a grid from long ago."""
    origin = text_of(utc_now().replace(microsecond=0) - timedelta(days=1))
    for number in range(jobs):
        server.create(id=f"beat-{number}", overlap="allow", misfire={"grace": "1m"},
                      schedule={"kind": "every", "every": every, "start_at": origin},
                      http={"method": "GET", "url": f"{place.target.url}/beat/{number}"})


def fires(target, number):
    """Returns how often each nominal time of a job was called."""
    return Counter(time_of(call.headers["Ksana-Scheduled-At"])
                   for call in target.of(f"/beat/{number}"))


def check_fires(target, jobs, every=timedelta(milliseconds=200)):
    """Every fire between the first and the last was called, and none twice."""
    total = 0
    for number in range(jobs):
        seen = fires(target, number)
        check(seen, f"job {number} never fired")
        twice = [str(nominal) for nominal, count in seen.items() if count > 1]
        check(not twice, f"job {number}: fires called twice: {twice}")
        first, last = min(seen), max(seen)
        expected = (last - first) // every + 1
        check(len(seen) == expected, f"job {number}: {len(seen)} of {expected} fires were called")
        total += expected
    return total


def stop_firing(server, jobs):
    """Pauses the jobs and waits until every run is over."""
    for number in range(jobs):
        server.call("POST", f"/api/v1/jobs/beat-{number}/pause", {})
    wait_until(lambda: not server.call("GET", "/api/v1/runs?state=queued&state=running"
                                       "&state=scheduled&limit=1")["items"], "all runs to end")
