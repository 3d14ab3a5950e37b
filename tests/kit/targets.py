"""A target of HTTP jobs that records every call."""
import http.server
import json
import threading

from kit.times import utc_now
from kit.waiting import PATIENCE, wait_on


class Call:
    """One request to the target."""

    def __init__(self, method, path, headers, body):
        self.at = utc_now()
        self.method, self.path, self.headers, self.body = method, path, headers, body

    def json(self):
        return json.loads(self.body)


class Target:
    """Answers by path: /ok, /status/503, /flaky/2 (503 twice, then 200), /hang (until release),
    /slow/0.5, /later/7 (503 with Retry-After: 7, then 200), /busy/7 (that until release). Keeps
    every call and the highest number of concurrent calls."""

    def __init__(self, port=0):
        self.calls, self.changed = [], threading.Condition()     # its lock is reentrant
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
                """Ignores errors: a killed server resets its connections."""

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
        if words[0] == "busy" and not self.released.is_set():
            return 503, {"Retry-After": words[1]}
        if words[0] == "hang":
            self.released.wait(PATIENCE)
        if words[0] == "slow":
            self.released.wait(float(words[1]))
        return 200, {}

    def of(self, path):
        with self.changed:
            return [call for call in self.calls if call.path == path]

    def await_calls(self, path, count=1, patience=PATIENCE):
        """Waits until this path has been called `count` times, and returns its calls."""
        wait_on(self.changed, lambda: len(self.of(path)) >= count,
                lambda: f"{count} calls of {path}, of which {len(self.of(path))} came", patience)
        return self.of(path)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
