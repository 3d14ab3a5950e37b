#!/usr/bin/env python3
"""Runs every verb of the command line that asks a server against a built one (SQLite):
api_cases.py KSANA CASES [--update]

kit/text_cases.py describes the file CASES. A line may also hold `{server}` and `{target}` for URLs,
`{id:1}` for the first UUID of the output, variables and `<<< TEXT` as in a shell, and `[tty]`
before a command that gets a terminal of 80 columns. kit/command_runner.py normalises times and
ids. A case with the comment `# needs METHOD PATH` runs only if the server describes this route; the
summary has the number of cases left out. The working folder has the files of admin/.
"""
import os
import pathlib
import shutil
import sys
import tempfile

from kit.command_runner import CommandRunner
from kit.server import Server
from kit.targets import Target
from kit.text_cases import run_text_cases

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


def routes_of(server):
    """Returns routes such as "GET /api/v1/jobs", from the server's own description."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    _, _, description = server.request("GET", "/api/v1/openapi.json", headers=headers)
    return {f"{method.upper()} {path}" for path, methods in description["paths"].items()
            for method in methods}


def main():
    binary, path = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="ksana_cli_") as folder:
        place = pathlib.Path(folder)
        shutil.copytree(pathlib.Path(__file__).parent / "admin", place, dirs_exist_ok=True)
        for name, text in FILES.items():
            (place / name).write_text(text, encoding="utf-8")
            (place / name).chmod(0o600)
        server = Server(binary, "sqlite", environment={
            "KSANA_API_TOKEN_FILE": str(place / "token")})
        with Target() as target, server:
            server.start()
            environment = {"PATH": os.environ["PATH"], "KSANA_SERVER": server.url,
                           "KSANA_TOKEN_FILE": str(place / "token"), "TMPDIR": folder}
            runner = CommandRunner(binary, place, environment,
                                   {"server": server.url, "target": target.url})
            routes = routes_of(server)

            def is_left_out(comments):
                needed = {line.removeprefix("# needs ") for line in comments if "# needs " in line}
                return not needed <= routes

            return run_text_cases(path, runner.run, "--update" in sys.argv, is_left_out)


if __name__ == "__main__":
    sys.exit(main())
