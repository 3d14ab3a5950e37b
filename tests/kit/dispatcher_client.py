"""A client of the dialect of document D: tasks, their executions, and workers."""
from kit.agent_client import CLAIM
from kit.checks import check
from kit.waiting import wait_for, wait_until

YEARLY = "0 0 1 1 *"        # a schedule that does not fire during a case


class Dispatcher:
    """The dialect of document D, for one server."""

    def __init__(self, server):
        self.server, self.call, self.request = server, server.call, server.request

    def create(self, expect=201, **task):
        task = {"name": "a task", "schedule": YEARLY, "type": "work", **task}
        return self.call("POST", "/api/tasks", task, expect)

    def get(self, task_id):
        return self.call("GET", f"/api/tasks/{task_id}")

    def put(self, task, expect=200, **changes):
        """Replaces a task by a copy of an answer with changes."""
        return self.call("PUT", f"/api/tasks/{task['id']}", {**task, **changes}, expect)

    def delete(self, task_id, expect=200):
        return self.call("DELETE", f"/api/tasks/{task_id}", expect=expect)

    def trigger(self, task_id, body=None):
        return self.call("POST", f"/api/tasks/{task_id}/trigger", body, 201)

    def executions(self, task_id, query=""):
        """Returns the executions, newest first."""
        return self.call("GET", f"/api/tasks/{task_id}/executions{query}")["items"]

    def statuses(self, task_id):
        """Returns the words of the executions, oldest first."""
        return [one["status"] for one in reversed(self.executions(task_id))]

    def execution(self, task_id, execution_id):
        return self.call("GET", f"/api/tasks/{task_id}/executions/{execution_id}")

    def until(self, execution, *statuses):
        """Polls an execution until it has one of the statuses, and returns it."""
        return wait_for(lambda: self.execution(execution["task_id"], execution["id"]),
                        lambda one: one["status"] in statuses, f"{execution['id']} {statuses}")

    def await_executions(self, task_id, is_so, what):
        return wait_for(lambda: self.executions(task_id), is_so, what)

    def claim(self, worker="w", **wish):
        """Claims runs, as a worker does: perhaps none."""
        status, _, answer = self.request("POST", CLAIM, {"worker": worker, **wish})
        check(status in (200, 204), f"a claim: {status} {answer}")
        return answer["runs"] if status == 200 else []

    def take(self, worker="w", **wish):
        """Claims until there is one run."""
        return wait_until(lambda: self.claim(worker, **{"wait": "5s", **wish}),
                          f"a run for {worker}")[0]
