#!/usr/bin/env python3
"""Commands against a server of their own, compared with what is committed:
admin_cases.py BINARY CASES [--update]

A case is a line `$ ksana ARGUMENTS` (shell quoting; `KEY=VALUE` words in front are variables), then
what is expected: standard output, standard error behind `! `, and `exit N` where it is not 0. A
blank line ends it and a blank line of output is a `.`; `# ` lines are comments. The files of the
folder admin/ are there. What differs each time is written as TIME, ID, REQUEST and PORT.
--update writes what the program really answers, for a person to read.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "server"))
from ksana_server import Server  # noqa: E402

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


class Place:
    """A folder and a server."""

    def __init__(self, binary):
        self.binary = binary
        self.root = tempfile.mkdtemp(prefix="ksana_admin_")
        self.folder = os.path.join(self.root, "work")
        shutil.copytree(HERE / "admin", self.folder)
        self.server = Server(binary, "memory:").start()

    def close(self):
        self.server.close()
        shutil.rmtree(self.root)

    def steady(self, text):
        """Without what differs each time; times of the future and past that cases name stay."""
        text = re.sub(r"request [0-9a-zA-Z_-]+", "request REQUEST", text)
        text = re.sub(UUID, "ID", text)
        text = text.replace(f"127.0.0.1:{self.server.port}", "127.0.0.1:PORT")
        text = re.sub(r"2026-1[01]-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME", text)
        text = re.sub(r"\b[0-9a-f]{16}\b", "HASH", text)
        return text

    def answer(self, line):
        words = shlex.split(line)
        variables = {"PATH": os.environ["PATH"], "KSANA_SERVER": self.server.url}
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            variables[name] = value
        done = subprocess.run([self.binary, *words[1:]], stdin=subprocess.DEVNULL, env=variables,
                              cwd=self.folder, capture_output=True, text=True, timeout=60)
        out = self.steady(done.stdout).splitlines()
        out += ["! " + text for text in self.steady(done.stderr).splitlines()]
        if done.returncode != 0:
            out.append(f"exit {done.returncode}")
        return [text.rstrip() or "." for text in out]


def cases(text):
    """(comment lines, command, expected lines) of each case."""
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("# ")]
        rest = [line for line in lines if not line.startswith("# ")]
        if rest:
            yield comments, rest[0][2:], rest[1:]


def main():
    binary, path = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    update = "--update" in sys.argv
    place = Place(binary)
    passed = failed = 0
    written = []
    try:
        for comments, command, expected in cases(path.read_text()):
            got = place.answer(command)
            written.append("\n".join([*comments, "$ " + command, *got]))
            if got == expected:
                passed += 1
            elif not update:
                failed += 1
                print(f"$ {command}\nexpected:\n  " + "\n  ".join(expected) + "\ngot:\n  "
                      + "\n  ".join(got) + "\n")
    finally:
        place.close()
    if update:
        path.write_text("\n\n".join(written) + "\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not (passed or update) else 0


sys.exit(main())
