"""Document T, spoken to a built server, and how its cases are run."""
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from ksana_server import PATIENCE, Failure, Server, check, equal, store_of

PARALLEL = 3


class Tasks:
    """Document T, spoken to one server."""

    def __init__(self, server):
        self.server, self.call, self.request = server, server.call, server.request

    def submit(self, task_type="work", **more):
        return self.call("POST", "/task", {"type": task_type, **more}, 201)

    def get(self, task_id):
        return self.call("GET", f"/task/{task_id}")

    def status(self, task_id):
        return self.get(task_id)["status"]

    def fetch(self, **wish):
        return self.call("POST", "/task/fetch", wish)

    def fetch_one(self, **wish):
        """One task, as soon as there is one."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self.fetch(**wish)
            if found:
                equal(len(found), 1, "tasks")
                return found[0]
            check(time.monotonic() < deadline, f"nothing to fetch for {wish}")
            time.sleep(0.02)

    def report(self, task, status, expect=200, **more):
        return self.call("POST", f"/task/{task['id']}/report",
                         {"exec_id": task["exec_id"], "status": status, **more}, expect)

    def metadata(self, code, expect=201, category="", **config):
        return self.call("POST", "/task-metadata",
                         {"code": code, "name": code, "category": category, "config": config},
                         expect)

    def listed(self, path="/task"):
        return [task["id"] for task in self.call("GET", path)]

    def until(self, task_id, status):
        deadline = time.monotonic() + PATIENCE
        while True:
            task = self.get(task_id)
            if task["status"] == status:
                return task
            check(time.monotonic() < deadline, f"it did not become {status}: {task}")
            time.sleep(0.02)


def faults(answer):
    return sorted(fault["pointer"] if "pointer" in fault else fault["path"]
                  for fault in answer["errors"])


def run(binary, kind, function):
    server = Server(binary, store_of(kind))
    try:
        server.start()
        function(Tasks(server))
        equal(server.stop(), 0, "exit code")
        return True
    except Failure as failure:
        print(f"FAILED {function.__name__}: {failure}\n{server.log()}", file=sys.stderr)
        return False
    finally:
        server.close()


def main(cases):
    """Those that the command line names, else all."""
    binary, kind, wanted = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    chosen = [function for function in cases if not wanted or function.__name__ in wanted]
    # They mostly wait; each has a server of its own.
    with ThreadPoolExecutor(PARALLEL) as pool:
        passed = list(pool.map(lambda function: run(binary, kind, function), chosen))
    print(f"{kind}: {sum(passed)} of {len(passed)} cases")
    sys.exit(0 if passed and all(passed) else 1)
