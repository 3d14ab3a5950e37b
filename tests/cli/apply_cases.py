#!/usr/bin/env python3
"""`ksana apply` with changes by hand, at a terminal, and with a server that refuses. The other
cases are in apply_cases.txt.

usage: apply_cases.py KSANA [CASE…]
"""
import json
import os
import subprocess

from kit.cases import arguments, case, run
from kit.checks import check, contains, equal, lacks
from kit.places import Place
from kit.server import Server
from kit.terminal import Screen

JOB = """
[[jobs]]
id = "{0}"
name = "{0}"
schedule = {{ kind = "cron", cron = "{1}"{2} }}
http = {{ url = "http://127.0.0.1:7100/health" }}
"""


def job(name, cron="0 3 * * *", more=""):
    return JOB.format(name, cron, more)


class Apply(Place):
    def open(self):
        self.folder = self.new_folder("ksana_apply_")
        self.server = self.enter_context(Server(self.given.ksana, "memory:")).start()
        self.environment = {"PATH": os.environ["PATH"], "KSANA_SERVER": self.server.url,
                            "TERM": "xterm"}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    def apply(self, *words, expect=0, stdin=""):
        done = subprocess.run([self.given.ksana, "apply", *words], input=stdin, capture_output=True,
                              text=True, timeout=60, env=self.environment)
        equal(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def screen(self, *words, **variables):
        return Screen([self.given.ksana, "apply", *words], {**self.environment, **variables},
                      self.folder)

    def on_terminal(self, answer, *words, **variables):
        """Answers the question. Returns the text of the terminal and the exit code."""
        screen = self.screen(*words, **variables)
        screen.expect("[y/N] ")
        screen.type(answer)
        code, shown = screen.end()
        return shown, code

    def jobs(self):
        return [item["id"] for item in self.server.call("GET", "/api/v1/jobs")["items"]]

    def patch(self, name, change):
        status, _, body = self.server.request(
            "PATCH", f"/api/v1/jobs/{name}", change,
            {"Content-Type": "application/merge-patch+json"})
        equal(status, 200, body)

    @case
    def test_a_change_by_hand_is_told_and_set_back(self):
        path = self.write("a.toml", job("a") + job("b"))
        self.apply("-f", path, "--yes")
        self.patch("a", {"timeout": "5s", "labels": {"mine": "yes"}})
        said = self.apply("-f", path, "--dry-run", expect=8)
        contains("~ job a  (changed by hand since the last apply)\n"
                 "    labels.mine: \"yes\" -> (none)\n    timeout: \"5s\" -> (none)\n", said)
        plan = json.loads(self.apply("-f", path, "--yes", "-o", "json"))
        equal([(item["name"], item.get("drifted", False), item["done"])
               for item in plan["items"]], [("a", True, True), ("b", False, False)])
        lacks("timeout", self.server.call("GET", "/api/v1/jobs/a"))
        contains("2 the same", self.apply("-f", path))

    @case
    def test_a_pause_stays_unless_the_file_says(self):
        path = self.write("a.toml", job("a"))
        self.apply("-f", path, "--yes")
        self.server.call("POST", "/api/v1/jobs/a/pause", {"reason": "hands off"})
        self.write("a.toml", job("a", "0 4 * * *"))
        self.apply("-f", path, "--yes")
        stored = self.server.call("GET", "/api/v1/jobs/a")
        equal((stored["enabled"], stored["paused_reason"], stored["schedule"]["cron"]),
              (False, "hands off", "0 4 * * *"))
        self.write("a.toml", job("a", "0 4 * * *") + "enabled = true\n")
        self.apply("-f", path, "--yes")
        check(self.server.call("GET", "/api/v1/jobs/a")["enabled"])

    @case
    def test_what_was_done_before_an_error_is_told(self):
        path = self.write("a.toml", job("a") + job("b", more=', calendar = "nowhere"') + job("c"))
        said = self.apply("-f", path, "--yes", expect=2)
        contains("job b: ", said)
        contains("(1 of 3 changes were made before it, 1 were not tried;", said)
        equal(self.jobs(), ["a"])
        self.write("a.toml", job("a") + job("b") + job("c"))
        contains("2 to create, 0 to change, 0 to delete, 1 the same",
                 self.apply("-f", path, "--yes"))

    @case
    def test_folders_and_standard_input(self):
        self.write("d/1.toml", job("a"))
        self.write("d/2.json", json.dumps({"jobs": [{
            "id": "b", "name": "b", "schedule": {"kind": "every", "every": "1m"},
            "http": {"url": "http://127.0.0.1:7100/health"}}]}))
        self.apply("-f", str(self.folder / "d"), "-f", "-", "--yes", stdin=job("c"))
        equal(self.jobs(), ["a", "b", "c"])

    @case
    def test_it_asks_on_a_terminal(self):
        path = self.write("a.toml", job("a"))
        shown, code = self.on_terminal("n\n", "-f", path)
        equal(code, 1)
        contains("Nothing was changed.", shown)
        contains("\x1b[", shown)
        equal(self.jobs(), [])
        shown, code = self.on_terminal("y\n", "-f", path, NO_COLOR="1")
        equal((code, self.jobs()), (0, ["a"]))
        lacks("\x1b[", shown)
        check(shown.index("+ job a") < shown.index("Apply this?"), shown)

    @case
    def test_many(self):
        path = self.write("a.toml", "".join(job(f"j{n:04}") for n in range(1200)))
        contains("applied 1200 changes", self.apply("-f", path, "--yes"))
        contains("1200 the same", self.apply("-f", path))
        self.write("a.toml", job("j0000"))
        self.apply("-f", path, "--prune", "--yes")
        equal(self.jobs(), ["j0000"])

    @case
    def test_somebody_else_is_faster(self):
        """A change between plan and apply: apply requires the version that the plan has seen."""
        path = self.write("a.toml", job("a"))
        self.apply("-f", path, "--yes")
        self.write("a.toml", job("a", "0 4 * * *"))
        screen = self.screen("-f", path)
        screen.expect("[y/N] ")
        self.patch("a", {"timeout": "5s"})
        screen.type("y\n")
        code, shown = screen.end()
        equal(code, 5, shown)
        equal(self.server.call("GET", "/api/v1/jobs/a")["timeout"], "5s")


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda one: one.owner(given))
