"""A proxy between an agent and the server. It forwards and counts requests. Like a bad network
or a stopping server, it can lose an answer or send an answer of its own."""
import http.client
import http.server
import socket
import threading
import time

from kit.waiting import PATIENCE, wait_on


# The proxy. Serves each connection on its own thread; a case may call its methods at any time.
class Wire:
    def __init__(self, server):
        self.server, self.changed = server, threading.Condition()
        self.calls, self.connections = [], 0
        self.answers = []       # verb and status
        self.lost, self.instead = {}, {}
        wire = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self):
                super().setup()
                with wire.changed:
                    wire.connections += 1

            def log_message(self, *arguments):
                pass

            def pass_on(self):
                try:
                    wire.serve(self)
                except (OSError, http.client.HTTPException):    # the client or the server is gone
                    self.close_connection = True

            do_GET = do_POST = pass_on

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                """Ignores errors: agents are stopped and killed."""

        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.listener.server_address[1]}"
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def serve(self, asked):
        body = asked.rfile.read(int(asked.headers.get("Content-Length") or 0))
        verb = asked.path.rpartition("/")[2]
        with self.changed:
            self.calls.append((verb, body, time.monotonic()))
            self.changed.notify_all()
            answer = self.instead[verb].pop(0) if self.instead.get(verb) else None
        if answer is None:
            answer = self.ask(asked, body)
        with self.changed:
            self.answers.append((verb, answer[0]))
            self.changed.notify_all()
            if self.lost.get(verb, 0) > 0:
                self.lost[verb] -= 1
                asked.close_connection = True
                return
        status, headers, content = answer
        asked.send_response(status)
        for name, value in headers.items():
            asked.send_header(name, value)
        if status != 204:
            asked.send_header("Content-Length", str(len(content)))
        asked.end_headers()
        asked.wfile.write(content)

    def ask(self, asked, body):
        """Returns the server's answer. If the client closes its connection, its request is
        closed as well."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        connection.request(asked.command, asked.path, body or None, {
            name: value for name, value in asked.headers.items()
            if name in ("Authorization", "Content-Type", "Idempotency-Key")})
        gone = threading.Thread(target=self.follow, args=(asked.connection, connection.sock),
                                daemon=True)
        gone.start()
        try:
            response = connection.getresponse()
            content = response.read()
            kept = {name: value for name, value in response.getheaders()
                    if name in ("Content-Type", "Retry-After")}
            return response.status, kept, content
        finally:
            connection.close()

    @staticmethod
    def follow(client, server):
        """Closes the connection to the server when the client closes its own. A client that
        waits for an answer sends nothing."""
        try:
            if client.recv(1, socket.MSG_PEEK) == b"":
                server.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def of(self, verb):
        with self.changed:
            return [(body, at) for name, body, at in self.calls if name == verb]

    def await_calls(self, verb, count):
        wait_on(self.changed, lambda: sum(1 for call in self.calls if call[0] == verb) >= count,
                f"{count} calls of {verb}")

    def await_answer(self, verb, status):
        wait_on(self.changed, lambda: (verb, status) in self.answers,
                f"the answer {status} to {verb}")

    def lose(self, verb, count=1):
        """Loses the next answers to this verb. The server has executed the requests."""
        with self.changed:
            self.lost[verb] = count

    def answer(self, verb, *answers):
        """Sends these answers (status, headers, content) to the next requests of this verb,
        without the server."""
        with self.changed:
            self.instead[verb] = list(answers)

    def close(self):
        self.listener.shutdown()
        self.listener.server_close()
