#!/usr/bin/env python3
"""Runs every agent that a document or an example shows as a separate program.

usage: example_cases.py KSANA ROOT [CASE…]      ROOT: the folder of the repository

Each program starts with KSANA_SERVER, gets a task of type mail and one that must fail, and is
stopped.
"""
import contextlib
import functools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from kit.cases import add_case, arguments, run
from kit.checks import Failure, check, equal
from kit.server import Server
from kit.waiting import PATIENCE, wait_for, wait_until

PAGES = ["README.md", "docs/agents.md", "sdk/python/README.md", "sdk/node/README.md",
         "sdk/shell/README.md"]
EXAMPLES = ["sdk/python/example.py", "sdk/node/example.mjs", "sdk/shell/example.sh"]
COMMANDS = {"python": (sys.executable, ".py", "sdk/python"), "js": ("node", ".mjs", "sdk/node"),
            "bash": ("bash", ".sh", "sdk/shell")}
LINES = 35      # documented as "about thirty"


def programs(root, folder):
    """Yields name, command and folder of each program."""
    for page in PAGES:
        text = (root / page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```(python|js|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        check(blocks, f"{page} shows no agent")
        for number, (language, block) in enumerate(blocks):
            command, suffix, place = COMMANDS[language]
            lines = [line for line in block.splitlines() if line.strip()]
            check(len(lines) <= LINES, f"{page}: {language} takes {len(lines)} lines")
            path = folder / f"{page.replace('/', '_')}_{number}{suffix}"
            block = block.replace("'./ksana.mjs'", f"'{root / place}/ksana.mjs'")
            path.write_text(block, encoding="utf-8")
            yield f"{page} ({language})", [command, str(path)], root / place
    for example in EXAMPLES:
        command, _, place = next(entry for entry in COMMANDS.values()
                                 if entry[1] == pathlib.Path(example).suffix)
        yield example, [command, str(root / example)], root / place


def await_end(server, run_id, process):
    def look():
        check(process.poll() is None, f"the program ended with {process.poll()}")
        return server.call("GET", f"/api/v1/runs/{run_id}")

    return wait_for(look, lambda run: run["state"] in ("succeeded", "failed"),
                    "the end of the task", pause=0.02)


def submit(server, payload):
    return server.call("POST", "/api/v1/runs", {"type": "mail", "payload": payload,
                                                "timeout": "1m", "retry": {"strategy": "none"}},
                       201)["id"]


def run_program(server, command, place, folder):
    environment = {**os.environ, "KSANA_SERVER": server.url, "PYTHONPATH": str(place),
                   "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(folder)}
    with open(folder / "output", "w+", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=place, env=environment, stdout=output,
                                   stderr=output, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            run = await_end(server, submit(server, {"to": "ada@example.com"}), process)
            equal((run["state"], run.get("result")), ("succeeded", {"sent_to": "ada@example.com"}),
                  run.get("last_error", "result"))
            run = await_end(server, submit(server, None), process)
            equal(run["state"], "failed", "a task without a payload")
            check(run["last_error"], "it does not say why")
        except Failure as failure:
            output.seek(0)
            raise Failure(f"{failure}\n{output.read()}") from None
        finally:
            # Kills the whole group: a remaining poll would fetch a task of the next program.
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, number)
                except ProcessLookupError:
                    break
                process.wait(PATIENCE)
    await_quiet(server)


def await_quiet(server):
    """The polls of a program end with the program, not only after their 20 seconds."""
    wait_until(lambda: "ksana_agent_polls_waiting 0\n" in server.request("GET", "/metrics")[2],
               "the end of all polls", within=10, pause=0.02)


def main():
    root = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="ksana_examples_") as name:
        folder = pathlib.Path(name)
        for what, command, place in programs(root, folder) if root else ():
            add_case(functools.partial(run_program, command=command, place=place, folder=folder),
                     what)
        given = arguments("KSANA ROOT")
        with Server(given.ksana, "sqlite") as server:
            server.start()
            run(given, lambda _: contextlib.nullcontext(server))


if __name__ == "__main__":
    main()
