#!/usr/bin/env python3
"""Runs a program over a file of cases: run_cases.py BINARY CASES [--update]

A case is a line `$ ksana ARGUMENTS` (shell quoting), then what is expected: lines of standard
output, lines of standard error behind `! `, and `exit N` where N is not 0. A blank line ends it;
`# ` lines are comments. Of a Markdown file the commands in its fenced blocks are the cases.
The cases of a file run one after the other in one empty folder, without KSANA_ variables.
--update writes what the program really answers, for a person to read.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def answer(binary, line, folder):
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith("KSANA_")}
    done = subprocess.run([binary, *shlex.split(line)[1:]], stdin=subprocess.DEVNULL, cwd=folder,
                          env=variables, capture_output=True, text=True, timeout=30)
    out = done.stdout.splitlines()
    out += ["! " + text for text in done.stderr.splitlines()]
    if done.returncode != 0:
        out.append(f"exit {done.returncode}")
    return [text.rstrip() for text in out]


def cases(text):
    """(comment lines, command, expected lines) of each case."""
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("# ")]
        rest = [line for line in lines if not line.startswith("# ")]
        if rest:
            yield comments, rest[0][2:], [line for line in rest[1:]]


def readme_cases(text):
    """(command, expected lines) of each `$ build/release/ksana …` in a fenced block."""
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if kind:
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *expected = part.strip("\n").split("\n")
            if command.startswith("build/release/ksana "):
                yield command, expected


def check_readme(binary, path, folder):
    """What README shows is what the program prints, on either stream."""
    passed = failed = 0
    for command, expected in readme_cases(path.read_text()):
        got = [line.removeprefix("! ") for line in answer(binary, command, folder)
               if not line.startswith("exit ")]
        if got == expected:
            passed += 1
        else:
            failed += 1
            print(f"README: $ {command}\n  " + "\n  ".join(got))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def check_cases(binary, path, folder):
    update = "--update" in sys.argv
    passed = failed = 0
    written = []
    for comments, command, expected in cases(path.read_text()):
        # A blank line of output is written as "." so that blank lines can end a case.
        got = [line or "." for line in answer(binary, command, folder)]
        written.append("\n".join([*comments, "$ " + command, *got]))
        if got == expected:
            passed += 1
        elif not update:
            failed += 1
            print(f"$ {command}\nexpected:\n  " + "\n  ".join(expected) + "\ngot:\n  "
                  + "\n  ".join(got) + "\n")
    if update:
        path.write_text("\n\n".join(written) + "\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main():
    binary, path = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    check = check_readme if path.suffix == ".md" else check_cases
    with tempfile.TemporaryDirectory() as folder:
        return check(binary, path, folder)


sys.exit(main())
