#!/usr/bin/env python3
"""`ksana apply` in the cases that need somebody else: a hand that changes things, a terminal, a
server that refuses. What it prints is in apply_cases.txt.

usage: apply_cases.py KSANA
"""
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "server"))
from ksana_server import Server  # noqa: E402

BINARY = os.path.abspath(sys.argv.pop(1))
JOB = """
[[jobs]]
id = "{0}"
name = "{0}"
schedule = {{ kind = "cron", cron = "{1}"{2} }}
http = {{ url = "http://127.0.0.1:7100/health" }}
"""


def job(name, cron="0 3 * * *", more=""):
    return JOB.format(name, cron, more)


class Apply(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ksana_apply_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.server = Server(BINARY, "memory:").start()
        self.addCleanup(self.server.close)
        self.environment = {"PATH": os.environ["PATH"], "KSANA_SERVER": self.server.url,
                            "TERM": "xterm"}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    def apply(self, *words, expect=0, stdin=""):
        done = subprocess.run([BINARY, "apply", *words], input=stdin, capture_output=True,
                              text=True, timeout=60, env=self.environment)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def on_terminal(self, answer, *words, **variables):
        """What is shown, and the exit code."""
        process, terminal = pty.fork()
        if process == 0:
            os.execve(BINARY, [BINARY, "apply", *words], {**self.environment, **variables})
        shown = ""
        try:
            while True:
                try:
                    part = os.read(terminal, 65536).decode()
                except OSError:         # the other side has closed it
                    break
                if not part:
                    break
                shown += part
                if part.endswith("[y/N] "):
                    os.write(terminal, answer.encode())
        finally:
            os.close(terminal)
        return shown, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def jobs(self):
        return [item["id"] for item in self.server.call("GET", "/api/v1/jobs")["items"]]

    def patch(self, name, change):
        status, _, body = self.server.request(
            "PATCH", f"/api/v1/jobs/{name}", change,
            {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(status, 200, body)

    def test_a_change_by_hand_is_told_and_set_back(self):
        path = self.write("a.toml", job("a") + job("b"))
        self.apply("-f", path, "--yes")
        self.patch("a", {"timeout": "5s", "labels": {"mine": "yes"}})
        said = self.apply("-f", path, "--dry-run", expect=8)
        self.assertIn("~ job a  (changed by hand since the last apply)\n"
                      "    labels.mine: \"yes\" -> (none)\n    timeout: \"5s\" -> (none)\n", said)
        plan = json.loads(self.apply("-f", path, "--yes", "-o", "json"))
        self.assertEqual([(item["name"], item.get("drifted", False), item["done"])
                          for item in plan["items"]], [("a", True, True), ("b", False, False)])
        self.assertNotIn("timeout", self.server.call("GET", "/api/v1/jobs/a"))
        self.assertIn("2 the same", self.apply("-f", path))

    def test_a_pause_stays_unless_the_file_says(self):
        path = self.write("a.toml", job("a"))
        self.apply("-f", path, "--yes")
        self.server.call("POST", "/api/v1/jobs/a/pause", {"reason": "hands off"})
        self.write("a.toml", job("a", "0 4 * * *"))
        self.apply("-f", path, "--yes")
        stored = self.server.call("GET", "/api/v1/jobs/a")
        self.assertEqual((stored["enabled"], stored["paused_reason"], stored["schedule"]["cron"]),
                         (False, "hands off", "0 4 * * *"))
        self.write("a.toml", job("a", "0 4 * * *") + "enabled = true\n")
        self.apply("-f", path, "--yes")
        self.assertTrue(self.server.call("GET", "/api/v1/jobs/a")["enabled"])

    def test_what_was_done_before_an_error_is_told(self):
        path = self.write("a.toml", job("a") + job("b", more=', calendar = "nowhere"') + job("c"))
        said = self.apply("-f", path, "--yes", expect=2)
        self.assertIn("job b: ", said)
        self.assertIn("(1 of 3 changes were made before it, 1 were not tried;", said)
        self.assertEqual(self.jobs(), ["a"])
        self.write("a.toml", job("a") + job("b") + job("c"))
        self.assertIn("2 to create, 0 to change, 0 to delete, 1 the same",
                      self.apply("-f", path, "--yes"))

    def test_folders_and_standard_input(self):
        self.write("d/1.toml", job("a"))
        self.write("d/2.json", json.dumps({"jobs": [{
            "id": "b", "name": "b", "schedule": {"kind": "every", "every": "1m"},
            "http": {"url": "http://127.0.0.1:7100/health"}}]}))
        self.apply("-f", str(self.folder / "d"), "-f", "-", "--yes", stdin=job("c"))
        self.assertEqual(self.jobs(), ["a", "b", "c"])

    def test_it_asks_on_a_terminal(self):
        path = self.write("a.toml", job("a"))
        shown, code = self.on_terminal("n\n", "-f", path)
        self.assertEqual(code, 1)
        self.assertIn("Nothing was changed.", shown)
        self.assertIn("\x1b[", shown)
        self.assertEqual(self.jobs(), [])
        shown, code = self.on_terminal("y\n", "-f", path, NO_COLOR="1")
        self.assertEqual((code, self.jobs()), (0, ["a"]))
        self.assertNotIn("\x1b[", shown)
        self.assertLess(shown.index("+ job a"), shown.index("Apply this?"))

    def test_many(self):
        path = self.write("a.toml", "".join(job(f"j{n:04}") for n in range(1200)))
        self.assertIn("applied 1200 changes", self.apply("-f", path, "--yes"))
        self.assertIn("1200 the same", self.apply("-f", path))
        self.write("a.toml", job("j0000"))
        self.apply("-f", path, "--prune", "--yes")
        self.assertEqual(self.jobs(), ["j0000"])

    def test_somebody_else_is_faster(self):
        """Between the plan and the change: the version that the plan saw is insisted on."""
        path = self.write("a.toml", job("a"))
        self.apply("-f", path, "--yes")
        self.write("a.toml", job("a", "0 4 * * *"))
        process, terminal = pty.fork()
        if process == 0:
            os.execve(BINARY, [BINARY, "apply", "-f", path], self.environment)
        shown = ""
        while not shown.endswith("[y/N] "):
            shown += os.read(terminal, 65536).decode()
        self.patch("a", {"timeout": "5s"})
        os.write(terminal, b"y\n")
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        os.close(terminal)
        self.assertEqual(code, 5, shown)
        self.assertEqual(self.server.call("GET", "/api/v1/jobs/a")["timeout"], "5s")


unittest.main()
