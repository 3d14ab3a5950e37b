"""The built server as a separate process."""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading

from kit.checks import Failure, check, equal
from kit.waiting import PATIENCE, wait_for, wait_on

READY = re.compile(r"ksana is ready.* url=\"?(https?://[0-9.]+:(\d+))")


class Server:
    """`ksana server` on a free port, with its data in a folder of its own."""

    def __init__(self, binary, store, folder=None, environment=None, flags=(), wrapper=()):
        self.binary, self.store, self.flags = binary, store, list(flags)
        self.wrapper = list(wrapper)        # a command that starts the binary
        self.own_folder = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="ksana_server_")
        self.environment = {"PATH": os.environ["PATH"], "PORT": "0", "KSANA_LOG_FORMAT": "text",
                            "DATA_DIR": os.path.join(self.folder, "data"),
                            "KSANA_STORE": store, **(environment or {})}
        self.process = None
        self.port = None
        self.lines, self.said = [], threading.Condition()

    def start(self, patience=PATIENCE):
        process = subprocess.Popen([*self.wrapper, self.binary, "server", *self.flags],
                                   cwd=self.folder, env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.process = process
        started = {}        # "port" once this process is ready, "ended" once it has ended

        def read():
            with process.stderr:
                for line in process.stderr:
                    with self.said:
                        self.lines.append(line)
                        found = READY.search(line)
                        if found:
                            started["port"] = int(found.group(2))
                        self.said.notify_all()
            with self.said:
                started["ended"] = True
                self.said.notify_all()

        threading.Thread(target=read, daemon=True).start()
        wait_on(self.said, lambda: started, lambda: f"the server to be ready\n{self.log()}",
                patience)
        check("port" in started, f"the server ended:\n{self.log()}")
        self.port = started["port"]
        return self

    def log(self):
        return "".join(self.lines[-50:])

    def await_line(self, part, patience=PATIENCE):
        """Returns the first log line with this text. A line may come shortly after its event."""
        return wait_on(self.said, lambda: next((line for line in self.lines if part in line), None),
                       f"the log line {part!r}", patience)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=None, headers=None):
        """Returns status, headers and body (parsed if it is JSON)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            if body is not None and not isinstance(body, (str, bytes)):
                body = json.dumps(body)
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            content = response.read().decode()
            if content and "json" in (response.getheader("Content-Type") or ""):
                content = json.loads(content)
            return response.status, dict(response.getheaders()), content
        finally:
            connection.close()

    def call(self, method, path, body=None, expect=200):
        status, _, content = self.request(method, path, body)
        equal(status, expect, f"{method} {path} {content}")
        return content

    def create(self, **job):
        job.setdefault("name", job.get("id", "a job"))
        job.setdefault("type", "http")
        return self.call("POST", "/jobs", job, 201)

    def job(self, job_id):
        return self.call("GET", f"/jobs/{job_id}")

    def await_job(self, job_id, is_so, what):
        """Polls the job until `is_so` accepts it, and returns it. The API has no long poll for
        jobs."""
        return wait_for(lambda: self.job(job_id), is_so, f"{job_id} to be {what}")

    def await_status(self, job_id, status):
        return self.await_job(job_id, lambda job: job["last_status"] == status, status)

    def stop(self, patience=PATIENCE):
        """Asks the server to stop and returns its exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure("the server did not stop\n" + self.log()) from None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, _, error, __):
        """Adds the log of the server to the failure of a case."""
        if error is not None:
            error.add_note(self.log())
        self.close()

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)
