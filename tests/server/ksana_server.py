"""The built server as a process of its own, and a target that records who called it."""
import http.client
import http.server
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from datetime import datetime, timedelta, timezone

PATIENCE = 30           # seconds after which something that should happen has not
READY = re.compile(r"ksana is ready.* url=\"?(https?://[0-9.]+:(\d+))")


class Failure(Exception):
    """What a case found wrong."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def equal(actual, expected, what):
    check(actual == expected, f"{what}: {actual!r} instead of {expected!r}")


def utc_now():
    return datetime.now(timezone.utc)


def text_of(instant):
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def time_of(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def after(seconds):
    return text_of(utc_now() + timedelta(seconds=seconds))


class Call:
    """One request that the target got."""

    def __init__(self, method, path, headers, body):
        self.at = utc_now()
        self.method, self.path, self.headers, self.body = method, path, headers, body

    def json(self):
        return json.loads(self.body)


class Target:
    """Answers by path: /ok, /status/503, /flaky/2 (so often 503, then 200), /hang (until release),
    /slow/0.5, /later/7 (503 with Retry-After: 7). Keeps every call, and how many there were at
    once."""

    def __init__(self, port=0):
        self.calls, self.changed = [], threading.Condition()
        self.under_way, self.most_at_once = 0, 0
        self.released = threading.Event()
        target = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length).decode()
                call = Call(self.command, self.path, dict(self.headers.items()), body)
                with target.changed:
                    earlier = sum(1 for other in target.calls if other.path == self.path)
                    target.calls.append(call)
                    target.under_way += 1
                    target.most_at_once = max(target.most_at_once, target.under_way)
                    target.changed.notify_all()
                status, headers = target.decide(self.path, earlier)
                with target.changed:
                    target.under_way -= 1
                content = b"" if status == 204 else b'{"done":true}'
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(content)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = answer

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, request, client_address):
                """A server that is killed resets its connections."""

        self.server = Server(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def decide(self, path, earlier):
        words = path.split("?")[0].strip("/").split("/")
        if words[0] == "status":
            return int(words[1]), {}
        if words[0] == "flaky":
            return (503 if earlier < int(words[1]) else 200), {}
        if words[0] == "later":
            return (503, {"Retry-After": words[1]}) if earlier == 0 else (200, {})
        if words[0] == "hang":
            self.released.wait(PATIENCE)
        if words[0] == "slow":
            self.released.wait(float(words[1]))
        return 200, {}

    def of(self, path):
        with self.changed:
            return [call for call in self.calls if call.path == path]

    def await_calls(self, path, count=1, patience=PATIENCE):
        """The calls of this path, as soon as there are so many."""
        deadline = time.monotonic() + patience
        with self.changed:
            while True:
                found = [call for call in self.calls if call.path == path]
                if len(found) >= count:
                    return found
                left = deadline - time.monotonic()
                check(left > 0, f"{len(found)} calls of {path} instead of {count}")
                self.changed.wait(left)

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


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
        self.lines = []

    def start(self, patience=PATIENCE):
        self.process = subprocess.Popen([*self.wrapper, self.binary, "server", *self.flags],
                                        cwd=self.folder, env=self.environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        lines = queue.Queue()
        process = self.process

        def read():
            for line in process.stderr:
                self.lines.append(line)
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        deadline = time.monotonic() + patience
        while True:
            try:
                line = lines.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                raise Failure("the server did not become ready\n" + self.log()) from None
            check(line is not None, "the server ended:\n" + self.log())
            found = READY.search(line)
            if found:
                self.port = int(found.group(2))
                return self

    def log(self):
        return "".join(self.lines[-50:])

    def await_line(self, part, patience=PATIENCE):
        """The first line of the log with this in it; lines come a little after what they tell."""
        deadline = time.monotonic() + patience
        while True:
            for line in list(self.lines):
                if part in line:
                    return line
            check(time.monotonic() < deadline, f"the log does not say {part!r}")
            time.sleep(0.01)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=None, headers=None):
        """Status, headers and body (parsed where it is JSON)."""
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
        """The job as soon as it is so: the API has no long poll yet, so it is asked again."""
        deadline = time.monotonic() + PATIENCE
        while True:
            job = self.job(job_id)
            if is_so(job):
                return job
            check(time.monotonic() < deadline, f"{job_id} did not become {what}: {job}")
            time.sleep(0.01)

    def await_status(self, job_id, status):
        return self.await_job(job_id, lambda job: job["last_status"] == status, status)

    def stop(self, patience=PATIENCE):
        """Asks it to stop; its exit code."""
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

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def postgres_database():
    """The URL of a fresh database on the server that ./dev test has started."""
    base = os.environ.get("KSANA_TEST_POSTGRES")
    check(base, "KSANA_TEST_POSTGRES is not set: run this through ./dev test")
    name = "server_" + uuid.uuid4().hex[:12]
    subprocess.run(["psql", "-q", "-d", base, "-c", f"CREATE DATABASE {name}"], check=True)
    head, _, tail = base.rpartition("/")
    _, question, options = tail.partition("?")
    return f"{head}/{name}{question}{options}"


def store_of(kind):
    return postgres_database() if kind == "postgres" else kind
