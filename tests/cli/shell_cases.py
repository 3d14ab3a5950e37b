#!/usr/bin/env python3
"""Tests the completion scripts in their shells, and the manual pages with man.

usage: shell_cases.py KSANA [CASE…]
"""
import os
import re
import socket
import subprocess
import time

from kit.cases import arguments, case, run
from kit.checks import check, contains, equal
from kit.places import Place
from kit.server import Server
from kit.terminal import Screen
from kit.waiting import PATIENCE


class Shells(Place):
    """A folder with the completion scripts, and a server with some jobs, shared by all cases."""

    def open(self):
        self.binary = self.given.ksana
        self.folder = self.new_folder("ksana_shell_")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "ksana").symlink_to(self.binary)
        (self.folder / "some_file.toml").write_text("")
        (self.folder / "some_folder").mkdir()
        self.server = self.enter_context(Server(self.binary, "memory:")).start()
        for name in ("nightly", "noon", "weekly"):
            self.server.create(id=name, http={"url": self.server.url + "/health"},
                               schedule={"kind": "every", "every": "1h"})
        for shell in ("bash", "zsh", "fish"):
            script = subprocess.run([self.binary, "completion", shell], check=True,
                                    timeout=PATIENCE, capture_output=True, text=True).stdout
            (self.folder / shell).write_text(script)


class ShellCase(Place):
    """The environment of one case; `given` is the Shells."""

    def open(self):
        self.folder, self.server = self.given.folder, self.given.server

    def environment(self, server=None):
        return {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(self.folder),
                "TERM": "dumb", "KSANA_SERVER": server or self.server.url, "LC_ALL": "C.UTF-8"}

    def run_shell(self, command, server=None):
        done = subprocess.run(command, cwd=self.folder, env=self.environment(server),
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        equal(done.stderr, "", command)
        return done.stdout

    def type(self, command, text, until):
        """Types `text` into a shell on a terminal, waits until it shows `until`, and returns its
        output."""
        screen = Screen(command, self.environment(), self.folder)
        self.callback(screen.close)
        screen.expect("READY>")
        screen.type(text)
        screen.expect(until)
        return screen.text


class Bash(ShellCase):
    def complete(self, *words, server=None):
        script = ("source ./bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _ksana; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        out = self.run_shell(["bash", "--norc", "-c", script, "x", "ksana", *words], server)
        return out.split()

    @case
    def test_words(self):
        contains("cron", self.complete(""))
        equal(self.complete("cr"), ["cron"])
        equal(self.complete("cron", ""), ["next", "explain"])
        equal(self.complete("cron", "e"), ["explain"])
        equal(self.complete("--v"), ["--version"])
        equal(self.complete("completion", ""), ["bash", "zsh", "fish"])
        equal(self.complete("man", "cro"), ["cron"])

    @case
    def test_options_and_their_values(self):
        equal(self.complete("cron", "next", "--co"), ["--count"])
        equal(self.complete("cron", "next", "--gap", ""), ["run_after", "skip"])
        equal(self.complete("cron", "next", "--gap", "=", "sk"), ["skip"])
        equal(self.complete("cron", "next", "--gap", "="), ["run_after", "skip"])
        equal(self.complete("cron", "next", "-o", "j"), ["json"])
        equal(self.complete("cron", "next", "--tz", "cron", "--fo"), ["--fold"])
        equal(self.complete("cron", "next", "--", "--"), [])
        equal(self.complete("cron", "--tz"), [])

    @case
    def test_files(self):
        equal(sorted(self.complete("import", "some_")),
              ["some_file.toml", "some_folder"])
        equal(self.complete("man", "--all", "some_"), ["some_folder"])

    @case
    def test_names_come_from_the_server(self):
        equal(self.complete("job", "get", "n"), ["nightly", "noon"])
        equal(self.complete("job", "get", "--timeout", "1s", "w"), ["weekly"])
        nowhere = "http://127.0.0.1:1"
        for words in (["--server", self.server.url, "job", "get", "w"],
                      ["job", "get", "--server", "=", self.server.url, "w"]):
            equal(self.complete(*words, server=nowhere), ["weekly"], words)

    @case
    def test_a_server_that_does_not_answer_holds_nobody_up(self):
        equal(self.complete("job", "get", "n", server="http://127.0.0.1:1"), [])
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            before = time.monotonic()
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            equal(self.complete("job", "get", "n", server=url), [])
            check(time.monotonic() - before < 10, "it took too long")

    @case
    def test_on_a_terminal(self):
        (self.folder / "bashrc").write_text("source ./bash; PS1='READY>'")
        self.type(["bash", "--rcfile", "bashrc", "-i"], "ksana cron exp\t", "ksana cron explain ")


class Fish(ShellCase):
    def complete(self, line, server=None):
        out = self.run_shell(["fish", "--no-config", "-c",
                              f"source ./fish; complete -C '{line}'"], server)
        return [entry.split("\t")[0] for entry in out.splitlines()]

    @case
    def test_words(self):
        equal(self.complete("ksana cro"), ["cron"])
        equal(sorted(self.complete("ksana cron ")), ["explain", "next"])
        equal(sorted(self.complete("ksana completion ")), ["bash", "fish", "zsh"])

    @case
    def test_options_and_their_values(self):
        equal(self.complete("ksana cron next --co"), ["--count"])
        equal(sorted(self.complete("ksana cron next --gap ")), ["run_after", "skip"])
        equal(self.complete("ksana cron next --tz cron --fo"), ["--fold"])
        equal(self.complete("ksana cron --gap"), [])
        equal(self.complete("ksana import some_f"), ["some_file.toml", "some_folder/"])
        equal(self.complete("ksana man --all some_"), ["some_folder/"])

    @case
    def test_names_come_from_the_server(self):
        equal(sorted(self.complete("ksana job get n")), ["nightly", "noon"])
        for named in (f"--server {self.server.url}", f"--server={self.server.url}"):
            equal(self.complete(f"ksana job get {named} w",
                                server="http://127.0.0.1:1"), ["weekly"], named)


class Zsh(ShellCase):
    def complete(self, line, until):
        (self.folder / ".zshrc").write_text(
            "autoload -U compinit; compinit -u -d ./dump; source ./zsh; PS1='READY>'\n")
        shown = self.type(["zsh", "-i", "-o", "no_beep"], line + "\t", until)
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x08", "", shown)

    @case
    def test_syntax(self):
        self.run_shell(["zsh", "-n", "./zsh"])

    @case
    def test_words(self):
        self.complete("ksana cron exp", "explain ")
        contains("Explains a cron", self.complete("ksana cron ", "Prints the next"))

    @case
    def test_options_and_their_values(self):
        self.complete("ksana cron next --cou", "--count ")
        self.complete("ksana cron next --gap r", "run_after ")
        self.complete("ksana cron next --gap=sk", "--gap=skip ")

    @case
    def test_names_come_from_the_server(self):
        self.complete("ksana job get nig", "nightly ")


class Manual(ShellCase):
    def pages(self):
        folder = self.folder / "man1"
        self.run_ksana("man", "--all", str(folder))
        return sorted(folder.iterdir())

    def run_ksana(self, *words, expect=0):
        done = subprocess.run([self.given.binary, *words], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        equal(done.returncode, expect, done.stderr)
        return done.stdout

    @case
    def test_every_page_is_right(self):
        pages = self.pages()
        check(len(pages) > 5, f"{len(pages)} pages")
        for page in pages:
            equal(page.stat().st_mode & 0o777, 0o644)
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z", page],
                                  capture_output=True, text=True, timeout=PATIENCE)
            equal((done.returncode, done.stderr), (0, ""), page)
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                                  capture_output=True, text=True, timeout=PATIENCE)
            # A page without a date does not change from day to day.
            found = [line for line in done.stdout.splitlines() if "missing date" not in line]
            equal(found, [], page)

    @case
    def test_pages_read_well(self):
        for page in self.pages():
            done = subprocess.run(["man", "-l", page], capture_output=True, text=True, check=True,
                                  timeout=PATIENCE,
                                  env={**self.environment(), "MANWIDTH": "80", "MANPAGER": "cat"})
            for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"):
                contains(heading, done.stdout.splitlines(), page)
            equal([line for line in done.stdout.splitlines() if len(line) > 80], [])

    @case
    def test_one_page(self):
        equal(self.run_ksana("man", "cron"),
              next(page for page in self.pages()
                   if page.name == "ksana-cron.1").read_text())
        contains(".SH ENVIRONMENT", self.run_ksana("man"))
        self.run_ksana("man", "corn", expect=3)


def main():
    given = arguments("KSANA")
    with Shells(given) as shells:
        run(given, lambda one: one.owner(shells))


if __name__ == "__main__":
    main()
