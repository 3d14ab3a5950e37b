"""The environment of a case of sdk/conformance.py: a server, a proxy (Wire) to it, agents, and a
tenant of its own, so that cases can share a server and run in parallel."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from kit.checks import Failure, equal
from kit.server import Server
from kit.waiting import PATIENCE, wait_for, wait_until
from kit.wire import Wire

TESTS = pathlib.Path(__file__).resolve().parent.parent
PYTHON_CLIENT = str(TESTS.parent / "sdk" / "python")
TOKEN = "conformance-token"
AGENTS = {"python": [sys.executable, str(TESTS / "sdk" / "agent.py")],
          "node": ["node", str(TESTS / "sdk" / "agent.mjs")],
          "shell": ["bash", str(TESTS / "sdk" / "agent.sh")]}
SOON = {"strategy": "fixed", "max_retries": 3, "interval": "0s"}


def new_server(binary):
    server = Server(binary, "sqlite")
    path = pathlib.Path(server.folder) / "token"
    path.write_text(TOKEN + "\n", encoding="utf-8")
    path.chmod(0o600)
    server.environment["KSANA_API_TOKEN_FILE"] = str(path)
    return server


class SdkPlace:
    def __init__(self, server, kind, name):
        self.server, self.kind = server, kind
        self.tenant = f"{kind}-{name}".replace("_", "-")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ksana_sdk_"))
        self.wire, self.processes = Wire(server), []
        self.journal = self.folder / "journal"
        self.journal.touch()
        self.files = 0

    # ---- the server's side

    def request(self, method, path, body=None):
        return self.server.request(method, "/api/v1" + path, body,
                                   {"Authorization": f"Bearer {TOKEN}"})

    def call(self, method, path, body=None, expect=200):
        status, _, content = self.request(method, path, body)
        equal(status, expect, f"{method} {path} {content}")
        return content

    def submit(self, kind, payload=None, **options):
        task = {"type": kind, "payload": payload, "tenant": self.tenant, "retry": SOON,
                "timeout": "5m", **options}
        return self.call("POST", "/runs", task, 201)["id"]

    def show(self, run_id):
        return self.call("GET", f"/runs/{run_id}")

    def await_run(self, run_id, is_so, what):
        return wait_for(lambda: self.show(run_id), is_so, f"{run_id} to be {what}", pause=0.02)

    def await_state(self, run_id, state):
        return self.await_run(run_id, lambda run: run["state"] == state, state)

    def claim(self, **wish):
        return self.call("POST", "/agent/claim", {"worker": "test", "tenant": self.tenant,
                                                  "wait": "20s", **wish})["runs"][0]

    def await_polls(self, count):
        """Waits until the server holds `count` polls. The server has no other agents."""
        line = f"ksana_agent_polls_waiting {count}\n"
        wait_until(lambda: line in self.server.request(
            "GET", "/metrics", None, {"Authorization": f"Bearer {TOKEN}"})[2],
                   f"{count} waiting polls", pause=0.02)

    # ---- the agent's side

    def environment(self, token=TOKEN):
        path = self.folder / "token"
        path.write_text(token + "\n", encoding="utf-8")
        path.chmod(0o600)
        # TMPDIR: an agent that is killed leaves its files there.
        return {**os.environ, "KSANA_SERVER": self.wire.url, "KSANA_TOKEN_FILE": str(path),
                "TMPDIR": str(self.folder), "PYTHONPATH": PYTHON_CLIENT}

    @property
    def shortest(self):
        """Returns the shortest lease that the agent can keep on a busy machine. bash is slower:
        it starts a process for each step."""
        return 4 if self.kind == "shell" else 2

    def agent(self, concurrency=1, lease=None, grace=20, token=TOKEN):
        lease = lease or self.shortest
        process = subprocess.Popen(
            [*AGENTS[self.kind], "work", self.tenant, str(self.journal), str(concurrency),
             str(lease), str(grace)], env=self.environment(token), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "stderr", "ab"),
            start_new_session=True)
        self.processes.append(process)
        return process

    def client(self):
        done = subprocess.run([*AGENTS[self.kind], "client", self.tenant],
                              env=self.environment(), capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        equal(done.returncode, 0, f"exit code\n{done.stderr}")
        return json.loads(done.stdout)

    def new_file(self):
        """Returns the path of a file that a handler waits for. The file does not exist yet."""
        self.files += 1
        return self.folder / f"file-{self.files}"

    def await_note(self, *words):
        line = " ".join(words)
        wait_until(lambda: line in self.journal.read_text(encoding="utf-8").splitlines(),
                   f"the line {line!r} in the journal of the agent", pause=0.02)

    def said(self):
        text = self.journal.read_text(encoding="utf-8")
        errors = self.folder / "stderr"
        return text + (errors.read_text(encoding="utf-8")[-4000:] if errors.exists() else "")

    def await_exit(self, process, code=0):
        try:
            equal(process.wait(PATIENCE), code, f"exit code\n{self.said()}")
        except subprocess.TimeoutExpired:
            raise Failure(f"the agent did not end\n{self.said()}") from None

    def __enter__(self):
        return self

    def __exit__(self, _, error, __):
        """Adds the output of the agents to the failure of a case."""
        if error is not None:
            error.add_note(self.said())
        self.close()

    def close(self):
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        self.wire.close()
        shutil.rmtree(self.folder, ignore_errors=True)
