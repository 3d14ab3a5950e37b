"""Hostile targets: how each misbehaves in a call, and how the job of the call must end."""
import socket
import threading

from kit.waiting import PATIENCE

BLOCK = bytes(65536)


def answer(status="200 OK", *headers, body=b"", length=None):
    length = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {length}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def drip(connection, over, first, rest):
    connection.sendall(first)
    for byte in rest:
        if over.wait(1):
            return
        connection.sendall(bytes([byte]))


def flood(connection, over, first, block):
    """Sends until the peer closes. The case checks how many bytes the peer accepted."""
    connection.sendall(first)
    while not over.is_set():
        connection.sendall(block)
        connection.flooded += len(block)


def say(*texts):
    def behave(connection, over):
        for text in texts:
            connection.sendall(text)
    return behave


def say_and_wait(text):
    def behave(connection, over):
        connection.sendall(text)
        over.wait(PATIENCE)
    return behave


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
NASTY = b"\xff\xfe\x00{\"a\": \x00}\xc3\x28\x1b[31m\r\n"

# By path: the behaviour of the target, the expected status of the job, and a part of last_error.
MODES = {
    "hang": (say_and_wait(b""), "timeout", "within 1s"),
    "slow_head": (lambda c, over: drip(c, over, b"HTTP/1.1 200 OK\r\n", b"X-Slow: " + b"x" * 60),
                  "timeout", "within 1s"),
    "slow_body": (lambda c, over: drip(c, over, answer(length=1000), b"x" * 60),
                  "timeout", "within 1s"),
    "endless_body": (lambda c, over: flood(c, over, b"HTTP/1.1 200 OK\r\n\r\n", BLOCK),
                     "success", ""),
    "endless_chunks": (lambda c, over: flood(c, over, CHUNKED, b"10000\r\n" + BLOCK + b"\r\n"),
                       "success", ""),
    "endless_failure": (lambda c, over: flood(c, over, b"HTTP/1.1 500 No\r\n\r\n", BLOCK),
                        "failed", "HTTP 500"),
    "endless_header": (lambda c, over: flood(c, over, b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65536),
                       "failed", ""),
    "endless_continue": (lambda c, over: flood(c, over, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99),
                         None, ""),
    "broken_chunks": (say(CHUNKED + b"5\r\nhello\r\nZZ\r\nworld\r\n"), "failed", ""),
    "huge_chunk_size": (say(CHUNKED + b"ffffffffffffffffff\r\nhello\r\n"), "failed", ""),
    "cut_chunks": (say(CHUNKED + b"5\r\nhel"), "failed", ""),
    "length_too_long": (say(answer(body=b"hello", length=100)), "failed", ""),
    "length_too_short": (say(answer(body=b"hello, and more", length=5)), "success", ""),
    "length_no_number": (say(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nhello"), "failed",
                         ""),
    "many_headers": (say(b"HTTP/1.1 200 OK\r\n"
                         + b"".join(b"X-%d: y\r\n" % n for n in range(100_000)) + b"\r\n"),
                     "failed", ""),
    "redirect_loop": (say(answer("302 Found", "Location: /redirect_loop")), "failed", "HTTP 302"),
    "nasty_success": (say(answer(body=NASTY)), "success", ""),
    "nasty_failure": (say(answer("400 \x1b[31mNo", "X-Nasty: a\x01b", body=NASTY)), "failed",
                      "HTTP 400"),
    "continue_only": (say_and_wait(b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout", "within 1s"),
    "body_of_204": (say(answer("204 No Content", body=b"hello")), "success", ""),
    "early_close": (say(), "failed", ""),
    "half_a_head": (say(b"HTTP/1.1 200 OK\r\nContent-Le"), "failed", ""),
    "not_http": (say(b"220 mail.example.com ESMTP\r\n"), "failed", ""),
    "binary": (say(bytes(range(256)) * 40), "failed", ""),
}


class Line:
    """A connection of a hostile target."""

    def __init__(self, peer, path):
        self.sendall, self.path, self.flooded = peer.sendall, path, 0


class HostileTarget:
    """Reads the head of a request, behaves as its path says, and closes the connection. Under
    /keep/… it answers first, and then closes the connection at once (`close`) or at the next
    request (`drop`)."""

    def __init__(self):
        self.over = threading.Event()
        self.lines, self.accepted, self.lock = [], 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.accepted += 1
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def path_of_next(self, peer):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = peer.recv(65536)
            if not piece:
                return None
            head += piece
        return head.split(b" ", 2)[1].decode()

    def note(self, peer, path):
        line = Line(peer, path)
        with self.lock:
            self.lines.append(line)
        return line

    def serve(self, peer):
        with peer:
            try:
                path = self.path_of_next(peer)
                if path is None:
                    return
                line = self.note(peer, path)
                if path.startswith("/keep/"):
                    peer.sendall(answer(body=b"kept"))
                    if path == "/keep/drop" and self.path_of_next(peer):
                        self.note(peer, "/dropped")
                elif path == "/to_metadata":
                    peer.sendall(answer("307 Go", "Location: http://169.254.169.254/latest"))
                elif path == "/to_self":
                    peer.sendall(answer("302 Go", f"Location: {self.url}/redirected"))
                else:
                    MODES[path[1:].split("?")[0]][0](line, self.over)
            except OSError:
                pass        # the server may close the connection

    def of(self, path):
        with self.lock:
            return [line for line in self.lines if line.path.split("?")[0] == path]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self.over.set()
        self.listener.close()
