#!/usr/bin/env python3
"""Every verb of the command line that asks a server, against a built one (SQLite):
api_cases.py BINARY CASES [--update]

CASES are in the form of run_cases.py, with `{server}` and `{target}` for URLs, `{id:1}` for the
first UUID that was seen, variables and `<<< TEXT` as in a shell, and `[tty]` in front of a command
that gets a terminal of 80 columns. Times and ids are normalised (command_runner.py). A case behind
`# needs METHOD PATH` is for servers that describe this route; how many were left out is said. The
files of the folder admin/ are there, too.
"""
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from ksana_server import Server, Target  # noqa: E402
from command_runner import CommandRunner  # noqa: E402

TOKEN = "0123456789abcdef-cli-cases"
FILES = {
    "token": TOKEN + "\n",
    "wrong-token": "another-token-of-that-length\n",
    "job.json": '{"id": "from-json", "name": "from a file", "type": "http",'
                ' "http": {"url": "http://127.0.0.1:9/"},'
                ' "schedule": {"kind": "every", "every": "240h"}}\n',
    "job.toml": 'id = "from-toml"\nname = "日报"\n[http]\nurl = "http://127.0.0.1:9/"\n'
                '[schedule]\nkind = "cron"\ncron = "0 3 1 1 *"\nzone = "Europe/Paris"\n',
    "broken.json": '{"name": "x", "schedule": {"kind": "evry"}, "colour": "red"}\n',
    "body.txt": "the body\n",
}


def blocks(text):
    """(comment lines, command, expected lines) of each case."""
    for block in text.strip().split("\n\n"):
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("# ")]
        rest = [line for line in lines if not line.startswith("# ")]
        if rest:
            yield comments, rest[0][2:], rest[1:]


def routes_of(server):
    """As "GET /api/v1/jobs", from the description that the server itself gives."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    _, _, description = server.request("GET", "/api/v1/openapi.json", headers=headers)
    return {f"{method.upper()} {path}" for path, methods in description["paths"].items()
            for method in methods}


def check(runner, routes, path, update):
    written, failed, passed, left_out = [], 0, 0, 0
    for comments, command, expected in blocks(path.read_text(encoding="utf-8")):
        needed = {line.removeprefix("# needs ") for line in comments if "# needs " in line}
        if not needed <= routes:
            left_out += 1
            written.append("\n".join([*comments, "$ " + command, *expected]))
            continue
        got = [line.rstrip() or "." for line in runner.run(command)]
        written.append("\n".join([*comments, "$ " + command, *got]))
        if got == expected:
            passed += 1
        elif not update:
            failed += 1
            print(f"$ {command}\nexpected:\n  " + "\n  ".join(expected) + "\ngot:\n  "
                  + "\n  ".join(got) + "\n")
    if update:
        path.write_text("\n\n".join(written) + "\n", encoding="utf-8")
    print(f"{passed} passed, {failed} failed, {left_out} left out")
    return 1 if failed or not passed else 0


def main():
    binary, path = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    target = Target()
    with tempfile.TemporaryDirectory(prefix="ksana_cli_") as folder:
        place = pathlib.Path(folder)
        shutil.copytree(pathlib.Path(__file__).parent / "admin", place, dirs_exist_ok=True)
        for name, text in FILES.items():
            (place / name).write_text(text, encoding="utf-8")
        server = Server(binary, "sqlite", environment={
            "KSANA_API_TOKEN_FILE": str(place / "token")})
        try:
            server.start()
            environment = {"PATH": os.environ["PATH"], "KSANA_SERVER": server.url,
                           "KSANA_TOKEN_FILE": str(place / "token"), "TMPDIR": folder}
            runner = CommandRunner(binary, place, environment,
                                   {"server": server.url, "target": target.url})
            return check(runner, routes_of(server), path, "--update" in sys.argv)
        finally:
            server.close()
            target.close()


sys.exit(main())
