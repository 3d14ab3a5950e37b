"""Calls of /api/v1 that submit tasks, and the calls of agents. `api` is a kit.api_client.Api."""
from kit.checks import equal
from kit.waiting import wait_until

RUNS = "/api/v1/runs"
CLAIM = "/api/v1/agent/claim"
EXCHANGE = "/api/v1/agent/exchange"


def submit(api, kind="mail", expect=201, **task):
    return api.call("POST", RUNS, {"type": kind, **task}, expect)


def claim(api, worker="w", expect=200, **wish):
    answer = api.call("POST", CLAIM, {"worker": worker, **wish}, expect)
    return answer["runs"] if expect == 200 else answer


def claim_one(api, **wish):
    runs = claim(api, **wish)
    equal(len(runs), 1, "runs")
    return runs[0]


def tell(api, run, verb, expect=204, **body):
    path = f"/api/v1/agent/runs/{run['run_id']}/{verb}"
    return api.call("POST", path, {"exec_id": run["exec_id"], **body}, expect)


def show(api, run_id):
    return api.call("GET", f"{RUNS}/{run_id}")


def pointers(problem):
    return sorted(error["pointer"] for error in problem["errors"])


def await_polls(api, count):
    """Waits until the server holds `count` polls, according to its metrics."""
    line = f"ksana_agent_polls_waiting {count}\n"
    wait_until(lambda: line in api.server.request("GET", "/metrics")[2], f"{count} waiting polls",
               pause=0.005)
