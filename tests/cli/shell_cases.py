#!/usr/bin/env python3
"""The completion scripts in their shells, and the manual pages as man reads them.

usage: shell_cases.py KSANA
"""
import os
import pathlib
import pty
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "server"))
from ksana_server import Server  # noqa: E402

BINARY = os.path.abspath(sys.argv.pop(1))
PATIENCE = 20


class ShellCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ksana_shell_"))
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin" / "ksana").symlink_to(BINARY)
        (cls.folder / "some_file.toml").write_text("")
        (cls.folder / "some_folder").mkdir()
        cls.server = Server(BINARY, "memory:").start()
        for name in ("nightly", "noon", "weekly"):
            cls.server.create(id=name, http={"url": cls.server.url + "/health"},
                              schedule={"kind": "every", "every": "1h"})
        for shell in ("bash", "zsh", "fish"):
            script = subprocess.run([BINARY, "completion", shell], check=True, timeout=PATIENCE,
                                    capture_output=True, text=True).stdout
            (cls.folder / shell).write_text(script)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        shutil.rmtree(cls.folder)

    def environment(self, server=None):
        return {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(self.folder),
                "TERM": "dumb", "KSANA_SERVER": server or self.server.url, "LC_ALL": "C.UTF-8"}

    def run_shell(self, command, server=None):
        done = subprocess.run(command, cwd=self.folder, env=self.environment(server),
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.stderr, "", command)
        return done.stdout

    def type(self, command, text, until):
        """Types a text into a shell on a terminal, until it shows another; what it showed."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execvpe(command[0], command, self.environment())
        shown, deadline = "", time.monotonic() + PATIENCE
        try:
            for wanted, typed in (("READY>", text), (until, "")):
                while wanted not in shown:
                    left = max(0, deadline - time.monotonic())
                    self.assertTrue(select.select([terminal], [], [], left)[0],
                                    f"{command}: {shown!r} does not show {wanted!r}")
                    shown += os.read(terminal, 65536).decode(errors="replace")
                os.write(terminal, typed.encode())
            return shown
        finally:
            os.close(terminal)
            os.waitpid(process, 0)


class Bash(ShellCase):
    def complete(self, *words, server=None):
        script = ("source ./bash; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _ksana; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        out = self.run_shell(["bash", "--norc", "-c", script, "x", "ksana", *words], server)
        return out.split()

    def test_words(self):
        self.assertIn("cron", self.complete(""))
        self.assertEqual(self.complete("cr"), ["cron"])
        self.assertEqual(self.complete("cron", ""), ["next", "explain"])
        self.assertEqual(self.complete("cron", "e"), ["explain"])
        self.assertEqual(self.complete("--v"), ["--version"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("man", "cro"), ["cron"])

    def test_options_and_their_values(self):
        self.assertEqual(self.complete("cron", "next", "--co"), ["--count"])
        self.assertEqual(self.complete("cron", "next", "--gap", ""), ["run_after", "skip"])
        self.assertEqual(self.complete("cron", "next", "--gap", "=", "sk"), ["skip"])
        self.assertEqual(self.complete("cron", "next", "--gap", "="), ["run_after", "skip"])
        self.assertEqual(self.complete("cron", "next", "-o", "j"), ["json"])
        self.assertEqual(self.complete("cron", "next", "--tz", "cron", "--fo"), ["--fold"])
        self.assertEqual(self.complete("cron", "next", "--", "--"), [])
        self.assertEqual(self.complete("cron", "--tz"), [])

    def test_files(self):
        self.assertEqual(sorted(self.complete("import", "some_")),
                         ["some_file.toml", "some_folder"])
        self.assertEqual(self.complete("man", "--all", "some_"), ["some_folder"])

    def test_names_come_from_the_server(self):
        self.assertEqual(self.complete("job", "get", "n"), ["nightly", "noon"])
        self.assertEqual(self.complete("job", "get", "--timeout", "1s", "w"), ["weekly"])
        nowhere = "http://127.0.0.1:1"
        for words in (["--server", self.server.url, "job", "get", "w"],
                      ["job", "get", "--server", "=", self.server.url, "w"]):
            self.assertEqual(self.complete(*words, server=nowhere), ["weekly"], words)

    def test_a_server_that_does_not_answer_holds_nobody_up(self):
        self.assertEqual(self.complete("job", "get", "n", server="http://127.0.0.1:1"), [])
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            before = time.monotonic()
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            self.assertEqual(self.complete("job", "get", "n", server=url), [])
            self.assertLess(time.monotonic() - before, 10)

    def test_on_a_terminal(self):
        (self.folder / "bashrc").write_text("source ./bash; PS1='READY>'")
        self.type(["bash", "--rcfile", "bashrc", "-i"], "ksana cron exp\t", "ksana cron explain ")


class Fish(ShellCase):
    def complete(self, line, server=None):
        out = self.run_shell(["fish", "--no-config", "-c",
                              f"source ./fish; complete -C '{line}'"], server)
        return [entry.split("\t")[0] for entry in out.splitlines()]

    def test_words(self):
        self.assertEqual(self.complete("ksana cro"), ["cron"])
        self.assertEqual(sorted(self.complete("ksana cron ")), ["explain", "next"])
        self.assertEqual(sorted(self.complete("ksana completion ")), ["bash", "fish", "zsh"])

    def test_options_and_their_values(self):
        self.assertEqual(self.complete("ksana cron next --co"), ["--count"])
        self.assertEqual(sorted(self.complete("ksana cron next --gap ")), ["run_after", "skip"])
        self.assertEqual(self.complete("ksana cron next --tz cron --fo"), ["--fold"])
        self.assertEqual(self.complete("ksana cron --gap"), [])
        self.assertEqual(self.complete("ksana import some_f"), ["some_file.toml", "some_folder/"])
        self.assertEqual(self.complete("ksana man --all some_"), ["some_folder/"])

    def test_names_come_from_the_server(self):
        self.assertEqual(sorted(self.complete("ksana job get n")), ["nightly", "noon"])
        for named in (f"--server {self.server.url}", f"--server={self.server.url}"):
            self.assertEqual(self.complete(f"ksana job get {named} w",
                                           server="http://127.0.0.1:1"), ["weekly"], named)


class Zsh(ShellCase):
    def complete(self, line, until):
        (self.folder / ".zshrc").write_text(
            "autoload -U compinit; compinit -u -d ./dump; source ./zsh; PS1='READY>'\n")
        shown = self.type(["zsh", "-i", "-o", "no_beep"], line + "\t", until)
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x08", "", shown)

    def test_syntax(self):
        self.run_shell(["zsh", "-n", "./zsh"])

    def test_words(self):
        self.complete("ksana cron exp", "explain ")
        self.assertIn("Explains a cron", self.complete("ksana cron ", "Prints the next"))

    def test_options_and_their_values(self):
        self.complete("ksana cron next --cou", "--count ")
        self.complete("ksana cron next --gap r", "run_after ")
        self.complete("ksana cron next --gap=sk", "--gap=skip ")

    def test_names_come_from_the_server(self):
        self.complete("ksana job get nig", "nightly ")


class Manual(ShellCase):
    def pages(self):
        folder = self.folder / "man1"
        self.run_ksana("man", "--all", str(folder))
        return sorted(folder.iterdir())

    def run_ksana(self, *words, expect=0):
        done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stdout

    def test_every_page_is_right(self):
        pages = self.pages()
        self.assertGreater(len(pages), 5)
        for page in pages:
            self.assertEqual(page.stat().st_mode & 0o777, 0o644)
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z", page],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                                  capture_output=True, text=True, timeout=PATIENCE)
            # A page without a date is the same tomorrow.
            found = [line for line in done.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(found, [], page)

    def test_pages_read_well(self):
        for page in self.pages():
            done = subprocess.run(["man", "-l", page], capture_output=True, text=True, check=True,
                                  timeout=PATIENCE,
                                  env={**self.environment(), "MANWIDTH": "80", "MANPAGER": "cat"})
            for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"):
                self.assertIn(heading, done.stdout.splitlines(), page)
            self.assertEqual([line for line in done.stdout.splitlines() if len(line) > 80], [])

    def test_one_page(self):
        self.assertEqual(self.run_ksana("man", "cron"),
                         next(page for page in self.pages()
                              if page.name == "ksana-cron.1").read_text())
        self.assertIn(".SH ENVIRONMENT", self.run_ksana("man"))
        self.run_ksana("man", "corn", expect=3)


unittest.main()
