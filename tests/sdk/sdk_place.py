"""Where a case of conformance.py happens: a server, a wire to it, an agent, and a tenant of its own
so that cases may run side by side."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "server"))
from ksana_server import PATIENCE, Failure, Server, check, equal  # noqa: E402
from wire import Wire  # noqa: E402

TOKEN = "conformance-token"
AGENTS = {"python": [sys.executable, str(HERE / "agent.py")],
          "node": ["node", str(HERE / "agent.mjs")],
          "shell": ["bash", str(HERE / "agent.sh")]}
SOON = {"strategy": "fixed", "max_retries": 3, "interval": "0s"}


def new_server(binary):
    server = Server(binary, "sqlite")
    path = pathlib.Path(server.folder) / "token"
    path.write_text(TOKEN + "\n", encoding="utf-8")
    path.chmod(0o600)
    server.environment["KSANA_API_TOKEN_FILE"] = str(path)
    return server


class Place:
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
        deadline = time.monotonic() + PATIENCE
        while True:
            run = self.show(run_id)
            if is_so(run):
                return run
            check(time.monotonic() < deadline, f"it did not become {what}: {run}\n{self.said()}")
            time.sleep(0.02)

    def await_state(self, run_id, state):
        return self.await_run(run_id, lambda run: run["state"] == state, state)

    def claim(self, **wish):
        return self.call("POST", "/agent/claim", {"worker": "test", "tenant": self.tenant,
                                                  "wait": "20s", **wish})["runs"][0]

    def await_polls(self, count):
        """Until so many wait at the server, which has no other agents."""
        deadline = time.monotonic() + PATIENCE
        while f"ksana_agent_polls_waiting {count}\n" not in self.server.request(
                "GET", "/metrics", None, {"Authorization": f"Bearer {TOKEN}"})[2]:
            check(time.monotonic() < deadline, f"not {count} that wait\n{self.said()}")
            time.sleep(0.02)

    # ---- the agent's side

    def environment(self, token=TOKEN):
        path = self.folder / "token"
        path.write_text(token + "\n", encoding="utf-8")
        # TMPDIR: who is killed tidies up nothing.
        return {**os.environ, "KSANA_SERVER": self.wire.url, "KSANA_TOKEN_FILE": str(path),
                "TMPDIR": str(self.folder)}

    @property
    def shortest(self):
        """The shortest lease that the agent can keep on a busy machine: bash starts a process for
        everything."""
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
        """What a handler waits for, and does not exist yet."""
        self.files += 1
        return self.folder / f"file-{self.files}"

    def await_note(self, *words):
        deadline, line = time.monotonic() + PATIENCE, " ".join(words)
        while line not in self.journal.read_text(encoding="utf-8").splitlines():
            check(time.monotonic() < deadline, f"the agent did not note {line!r}\n{self.said()}")
            time.sleep(0.02)

    def said(self):
        text = self.journal.read_text(encoding="utf-8")
        errors = self.folder / "stderr"
        return text + (errors.read_text(encoding="utf-8")[-4000:] if errors.exists() else "")

    def await_exit(self, process, code=0):
        try:
            equal(process.wait(PATIENCE), code, f"exit code\n{self.said()}")
        except subprocess.TimeoutExpired:
            raise Failure(f"the agent did not end\n{self.said()}") from None

    def close(self):
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        self.wire.close()
        shutil.rmtree(self.folder, ignore_errors=True)
