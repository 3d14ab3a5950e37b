#!/usr/bin/env python3
"""Commands at a terminal: questions, the editor, the live screen, Ctrl-C.

usage: terminal_cases.py KSANA [CASE…]
"""
import itertools
import json
import os
import re
import signal

from kit.cases import arguments, case, run
from kit.checks import check, contains, equal, lacks, matches
from kit.places import Place
from kit.server import Server
from kit.targets import Target
from kit.terminal import Screen

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
NUMBERS = itertools.count(1)
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class TerminalCase(Place):
    """All cases share one server; each has its own job."""

    def open(self):
        self.binary, self.server, self.target = self.given
        self.place = self.new_folder("ksana_tty_")
        self.job = f"job-{next(NUMBERS)}"
        self.create(self.job)

    def create(self, job_id, path="/ok", **more):
        self.server.call("POST", "/api/v1/jobs", {
            "id": job_id, "name": job_id, "type": "http",
            "http": {"url": self.target.url + path},
            "schedule": {"kind": "every", "every": "240h"}, **more}, 201)

    def screen(self, *words, **more):
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm", "TMPDIR": str(self.place),
                       "KSANA_SERVER": self.server.url, **more.pop("environment", {})}
        return Screen([self.binary, *words], environment, str(self.place), **more)

    def is_there(self):
        status, _, _ = self.server.request("GET", f"/api/v1/jobs/{self.job}")
        return status == 200

    def run_job(self):
        return self.server.call("POST", f"/api/v1/jobs/{self.job}/run", {}, 202)["id"]

    # ---- questions

    @case
    def test_delete_asks_and_a_no_changes_nothing(self):
        for answer in ("n\n", "\n", "\x04"):
            screen = self.screen("job", "delete", self.job)
            screen.expect(f"Delete the job {self.job} ({self.job})? [y/N] ")
            screen.type(answer)
            code, text = screen.end()
            equal(code, 1)
            contains("Nothing was changed.", text)
            check(self.is_there(), "the job is gone")

    @case
    def test_delete_asks_and_a_yes_does_it(self):
        screen = self.screen("job", "delete", self.job)
        screen.expect("[y/N] ")
        screen.type("y\n")
        code, text = screen.end()
        equal(code, 0)
        contains(f"deleted {self.job}", text)
        check(not self.is_there(), "the job is still there")

    # ---- the editor

    def editor(self, script):
        path = self.place / "editor"
        path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
        path.chmod(0o755)
        return {"EDITOR": str(path), "VISUAL": ""}

    def kept(self):
        return sorted(self.place.glob("ksana-edit-*"))

    @case
    def test_edit_stores_what_the_editor_leaves(self):
        screen = self.screen("job", "edit", self.job,
                             environment=self.editor("sed -i 's/240h/120h/' \"$1\"\n"))
        code, text = screen.end()
        equal(code, 0, text)
        contains(f"changed {self.job}, version 2", text)
        job = self.server.call("GET", f"/api/v1/jobs/{self.job}")
        equal(job["schedule"]["every"], "120h")
        equal(self.kept(), [])

    @case
    def test_edit_of_nothing_changes_nothing(self):
        code, text = self.screen("job", "edit", self.job, environment=self.editor("true\n")).end()
        equal((code, text.strip()), (0, "Nothing was changed."))
        equal(self.kept(), [])

    @case
    def test_edit_that_was_too_late_keeps_the_text(self):
        url = f"{self.server.url}/api/v1/jobs/{self.job}"
        script = (f"curl -sS -X PATCH {url} -d '{{\"owner\": \"bob\"}}' >/dev/null\n"
                  "sed -i 's/240h/120h/' \"$1\"\n")
        code, text = self.screen("job", "edit", self.job, environment=self.editor(script)).end()
        equal(code, 5, text)
        contains("somebody else has changed the job meanwhile", text)
        (kept,) = self.kept()
        contains(str(kept), text)
        equal(json.loads(kept.read_text())["schedule"]["every"], "120h")
        job = self.server.call("GET", f"/api/v1/jobs/{self.job}")
        equal((job["owner"], job["schedule"]["every"]), ("bob", "240h"))
        # The command that the message suggests works.
        code, text = self.screen("job", "edit", self.job, "-f", str(kept)).end()
        equal(code, 0, text)

    @case
    def test_edit_that_is_refused_keeps_the_text(self):
        for script, message in (("echo '{' > \"$1\"\n", "the edited text"),
                                ("echo '{\"name\": \"\"}' > \"$1\"\n", "/schedule")):
            code, text = self.screen("job", "edit", self.job,
                                     environment=self.editor(script)).end()
            equal(code, 2, text)
            contains(message, text)
        equal(len(self.kept()), 2)

    @case
    def test_an_editor_that_fails_changes_nothing(self):
        code, text = self.screen("job", "edit", self.job, environment=self.editor("exit 3\n")).end()
        equal(code, 1)
        contains("ended with 3", text)

    # ---- watching

    @case
    def test_a_watched_run_is_drawn_in_place(self):
        self.job = "slow-one"
        self.create(self.job, "/slow/1")
        run = self.run_job()
        screen = self.screen("run", "watch", run)
        screen.expect(f"\r\x1b[Krun {run}: ")
        code, text = screen.end()
        equal(code, 0)
        matches(COLOURS.sub("", text), rf"run {run}: succeeded in [\d.]+m?s\n$")

    @case
    def test_ctrl_c_ends_a_watch_and_not_the_run(self):
        self.job = "hanging"
        self.create(self.job, "/hang")
        run = self.run_job()
        screen = self.screen("run", "watch", run)
        screen.expect("running")
        screen.type("\x03")
        code, text = screen.end()
        equal(code, 130)
        contains("the run goes on", text)
        state = self.server.call("GET", f"/api/v1/runs/{run}")["state"]
        equal(state, "running")
        # The watch also ends with --max-wait.
        code, text = self.screen("run", "watch", run, "--max-wait", "300ms").end()
        equal(code, 124, text)
        code, text = self.screen("run", "cancel", run).end()
        equal(code, 0, text)
        contains(f"asked {run} to stop", text)
        self.target.released.set()

    # ---- top

    @case
    def test_top_draws_until_q_and_restores_the_terminal(self):
        screen = self.screen("top", "--interval", "200ms")
        at = screen.expect("Next fires")
        check(screen.text.startswith(ENTER))
        at = screen.expect(self.job, at)
        at = screen.expect("fires/s", screen.expect("\x1b[H", at))      # the next picture
        screen.resize(40, 12)
        at = screen.expect("\x1b[J", screen.expect("\x1b[H", at + 200))
        screen.type("q")
        code, text = screen.end()
        equal(code, 0)
        check(text.endswith(LEAVE), repr(text[-200:]))
        check(not re.search(r"Z\x1b\[K", text), "the last letter of a full line is erased")
        for picture in text.split("\x1b[H")[1:-1]:
            lines = COLOURS.sub("", picture).splitlines()
            check(len(lines) <= 24, f"{len(lines)} lines")
            check(max(map(len, lines)) <= 80, f"a line is too long: {lines}")

    @case
    def test_top_restores_the_terminal_on_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            screen = self.screen("top")
            screen.expect("Last failures")
            screen.send(number)
            code, text = screen.end()
            equal(code, 130)
            check(text.endswith(LEAVE), repr(text[-200:]))

    @case
    def test_top_goes_on_while_the_server_is_away(self):
        server = Server(self.binary, "sqlite").start()
        screen = self.screen("top", "--interval", "200ms",
                             environment={"KSANA_SERVER": server.url})
        screen.expect("Next fires")
        server.stop()
        screen.expect("cannot reach")
        screen.type("q")
        code, text = screen.end()
        server.close()
        equal(code, 0)
        check(text.endswith(LEAVE))

    @case
    def test_top_once_is_one_picture_without_a_screen_of_its_own(self):
        code, text = self.screen("top", "--once").end()
        equal(code, 0)
        lacks(ENTER, text)
        contains("Next fires", text)
        contains("\x1b[32mok\x1b[0m", text)
        code, text = self.screen("top", environment={"TERM": "dumb"}).end()
        equal(code, 2)
        contains("--once", text)


def main():
    given = arguments("KSANA")
    with Target() as target, Server(given.ksana, "sqlite") as server:
        server.start()
        run(given, lambda one: one.owner((given.ksana, server, target)))


if __name__ == "__main__":
    main()
