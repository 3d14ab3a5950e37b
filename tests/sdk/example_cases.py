#!/usr/bin/env python3
"""Every agent that a document or an example shows, as a program of its own, works.

usage: example_cases.py KSANA ROOT

Each is started with KSANA_SERVER, given a task of type mail and one that must fail, and ended.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from ksana_server import PATIENCE, Failure, Server, check, equal  # noqa: E402

PAGES = ["README.md", "docs/agents.md", "sdk/python/README.md", "sdk/node/README.md",
         "sdk/shell/README.md"]
EXAMPLES = ["sdk/python/example.py", "sdk/node/example.mjs", "sdk/shell/example.sh"]
COMMANDS = {"python": (sys.executable, ".py", "sdk/python"), "js": ("node", ".mjs", "sdk/node"),
            "bash": ("bash", ".sh", "sdk/shell")}
LINES = 35      # "about thirty"


def programs(root, folder):
    """Name, command and folder of each."""
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
    deadline = time.monotonic() + PATIENCE
    while True:
        run = server.call("GET", f"/api/v1/runs/{run_id}")
        if run["state"] in ("succeeded", "failed"):
            return run
        check(process.poll() is None, f"it ended with {process.poll()}")
        check(time.monotonic() < deadline, f"nobody worked on it: {run}")
        time.sleep(0.02)


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
            # All of it: a poll that goes on would fetch what is meant for the next program.
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(process.pid, number)
                except ProcessLookupError:
                    break
                process.wait(PATIENCE)
    await_quiet(server)


def await_quiet(server):
    """Polls of those who have gone go with them, and not only when they end after 20 seconds."""
    deadline = time.monotonic() + 10
    while "ksana_agent_polls_waiting 0\n" not in server.request("GET", "/metrics")[2]:
        check(time.monotonic() < deadline, "somebody still waits for tasks")
        time.sleep(0.02)


def main():
    binary, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    server, count = Server(binary, "sqlite"), 0
    with tempfile.TemporaryDirectory(prefix="ksana_examples_") as name:
        folder = pathlib.Path(name)
        try:
            server.start()
            for what, command, place in programs(root, folder):
                began = time.monotonic()
                try:
                    run_program(server, command, place, folder)
                    print(f"{what}: {time.monotonic() - began:.1f} s")
                except Failure as failure:
                    raise Failure(f"{what}: {failure}") from None
                count += 1
            print(f"{count} agents")
        except Failure as failure:
            print(f"FAILED: {failure}\n{server.log()}", file=sys.stderr)
            return 1
        finally:
            server.close()
    return 0


sys.exit(main())
