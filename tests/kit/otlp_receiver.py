"""A receiver of OTLP/HTTP that records requests and answers as told, and the judge of what came.

The judge is OpenTelemetry's own code (tests/server/otlp/judge.js), installed with npm once into the
folder of the build.
"""
import fcntl
import gzip
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import threading

from kit.checks import Failure
from kit.waiting import PATIENCE, wait_on

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "server", "otlp")


class Receiver:
    """Answers 200 unless `answers` has others: (status, headers, body, seconds to wait first),
    taken one by one."""

    def __init__(self, port=0):
        self.requests, self.changed = [], threading.Condition()
        self.answers, self.released = [], threading.Event()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                with receiver.changed:
                    status, headers, text, pause = 200, {}, "{}", 0
                    if receiver.answers:
                        status, headers, text, pause = receiver.answers.pop(0)
                    receiver.requests.append((status, self.path, dict(self.headers.items()),
                                              json.loads(body)))
                    receiver.changed.notify_all()
                if pause:
                    receiver.released.wait(pause)
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text.encode())
                except OSError:
                    self.close_connection = True

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *arguments: None      # of a client that went away
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def taken(self):
        """The requests that were answered with success."""
        with self.changed:
            return [request for status, _, _, request in self.requests if status == 200]

    def spans(self):
        """The spans of these requests, unjudged."""
        return [span for request in self.taken() for span in
                request["resourceSpans"][0]["scopeSpans"][0]["spans"]]

    def await_spans(self, wanted, what, patience=PATIENCE):
        """Waits until `wanted` accepts the list of spans."""
        wait_on(self.changed, lambda: wanted(self.spans()),
                lambda: f"{what}; there are {sorted(span['name'] for span in self.spans())}",
                patience)

    def await_requests(self, count, patience=PATIENCE):
        wait_on(self.changed, lambda: len(self.requests) >= count,
                lambda: f"{count} requests, of which {len(self.requests)} came", patience)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


class Judge:
    def __init__(self, folder):
        self.modules = install(folder)

    def spans(self, receiver):
        """All spans that the receiver took. Fails unless OpenTelemetry knows every member."""
        done = subprocess.run(["node", os.path.join(HERE, "judge.js"), self.modules],
                              input=json.dumps(receiver.taken()), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"OpenTelemetry does not take the request: {done.stderr}")
        return json.loads(done.stdout)


def install(folder):
    """Installs the judge below `folder`, unless that version is there, and returns node_modules."""
    files = {"package.json": "package.json", "package_lock.json": "package-lock.json"}
    with open(os.path.join(HERE, "package_lock.json"), "rb") as file:
        version = hashlib.sha256(file.read()).hexdigest()[:16]
    place = os.path.join(os.path.abspath(folder), f"otlp-judge-{version}")
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)        # tests may run side by side
        done = os.path.join(place, "installed")
        if not os.path.exists(done):
            for name, as_npm_wants_it in files.items():
                shutil.copy(os.path.join(HERE, name), os.path.join(place, as_npm_wants_it))
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"],
                           cwd=place, check=True)
            open(done, "w").close()
    return os.path.join(place, "node_modules")
