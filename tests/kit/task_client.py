"""A client of the dialect of document T: tasks, their types, and reports of agents."""
from kit.checks import equal
from kit.waiting import wait_for, wait_until


class Tasks:
    """The dialect of document T, for one server."""

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
        """Fetches until one task is returned."""
        found = wait_until(lambda: self.fetch(**wish), f"a task to fetch for {wish}", pause=0.02)
        equal(len(found), 1, "tasks")
        return found[0]

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
        return wait_for(lambda: self.get(task_id), lambda task: task["status"] == status,
                        f"the task to be {status}")


def faults(answer):
    return sorted(fault["pointer"] if "pointer" in fault else fault["path"]
                  for fault in answer["errors"])
