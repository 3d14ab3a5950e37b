"""A client of /api/v1 for jobs and runs. It compares every answer with the OpenAPI description."""
from kit.cases import arguments
from kit.contract import Client
from kit.places import run_on_store
from kit.waiting import wait_for

HOUR = {"kind": "every", "every": "1h"}


class Api(Client):
    """Jobs and runs of one server."""

    def create(self, job_id, url="http://127.0.0.1:9/", expect=201, **more):
        job = {"id": job_id, "name": job_id, "http": {"url": url}, "schedule": HOUR, **more}
        return self.call("POST", "/api/v1/jobs", job, expect)

    def await_job(self, job_id, is_so, what):
        return wait_for(lambda: self.call("GET", f"/api/v1/jobs/{job_id}"), is_so,
                        f"{job_id} to be {what}")

    def await_run(self, run_id, is_so, what):
        return wait_for(lambda: self.call("GET", f"/api/v1/runs/{run_id}"), is_so,
                        f"{run_id} to be {what}")

    def await_state(self, run_id, state):
        return self.await_run(run_id, lambda run: run["state"] == state, state)

    def walk(self, path, mark=lambda page: None):
        """Returns every item of a list, page by page. Calls `mark` after each page."""
        items, cursor = [], None
        while True:
            sign = "&" if "?" in path else "?"
            page = self.call("GET", path + (f"{sign}cursor={cursor}" if cursor else ""))
            items += page["items"]
            mark(page)
            cursor = page["next_cursor"]
            if cursor is None:
                return items


def run_api_cases():
    """Runs cases of the form function(api, server, target): KSANA STORE [CASE...]. Exits."""
    run_on_store(arguments("KSANA STORE"), lambda server, target: (Api(server), server, target),
                 environment={"WORKERS": "16"})
