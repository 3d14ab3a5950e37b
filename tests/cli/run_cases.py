#!/usr/bin/env python3
"""Runs the program over a file of cases: run_cases.py KSANA CASES [--update]

kit/text_cases.py describes the file. In a Markdown file, the commands in fenced blocks without a
language are the cases. The cases of a file run in order in one empty folder, without KSANA_
variables. --update writes the actual output of the program into the file, for a person to review.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from kit.cases import say
from kit.documents import fenced_blocks
from kit.text_cases import differences, run_text_cases, summary


def answer(binary, line, folder):
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith("KSANA_")}
    done = subprocess.run([binary, *shlex.split(line)[1:]], stdin=subprocess.DEVNULL, cwd=folder,
                          env=variables, capture_output=True, text=True, timeout=30, check=False)
    out = done.stdout.splitlines()
    out += ["! " + text for text in done.stderr.splitlines()]
    if done.returncode != 0:
        out.append(f"exit {done.returncode}")
    return [text.rstrip() for text in out]


def document_cases(path):
    """Yields (command, expected lines) for each `$ build/release/ksana ...` in a fenced block."""
    for block in fenced_blocks(path, ""):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *expected = part.strip("\n").split("\n")
            if command.startswith("build/release/ksana "):
                yield command, expected


def check_document(binary, path, folder):
    """Checks that the document shows what the program prints, on either stream."""
    passed = failed = 0
    for command, expected in document_cases(path):
        got = [line.removeprefix("! ") for line in answer(binary, command, folder)
               if not line.startswith("exit ")]
        if got == expected:
            passed += 1
        else:
            failed += 1
            say(f"{path}: " + differences(command, expected, got))
    return summary(passed, failed)


def main():
    binary, path = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        if path.suffix == ".md":
            return check_document(binary, path, folder)
        return run_text_cases(path, lambda line: answer(binary, line, folder),
                              "--update" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
