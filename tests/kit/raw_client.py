"""A client that sends raw bytes to a server, and the bytes of hostile requests."""
import json
import socket

from kit.checks import Failure
from kit.waiting import PATIENCE


class Raw:
    """A connection for raw bytes."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()

    def send(self, content):
        """Sends as many bytes as the server accepts."""
        try:
            self.socket.sendall(content)
        except OSError:
            pass

    def read_to_end(self):
        """Returns everything that the server sends until it closes the connection."""
        got = b""
        try:
            while piece := self.socket.recv(65536):
                got += piece
        except ConnectionResetError:
            pass
        except TimeoutError:
            raise Failure(f"the connection was not closed; got {got[:200]!r}") from None
        return got


def statuses(text):
    return [int(line.split()[1]) for line in text.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


def job_body(job_id):
    return json.dumps({"id": job_id, "name": "n", "type": "http",
                       "schedule": {"kind": "every", "every": "1h"},
                       "http": {"method": "GET", "url": "http://127.0.0.1/"}}).encode()


def post(body, *headers):
    lines = ["POST /jobs HTTP/1.1", "Host: localhost", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def hidden_request(job_id):
    """Returns the request to smuggle: it would create a job."""
    return post(job_body(job_id), f"Content-Length: {len(job_body(job_id))}")


def smuggling_shapes(job_id):
    """Returns requests by name. A careless server, or a proxy in front of it, sees two requests
    in each."""
    hidden = hidden_request(job_id)
    inner = b"0\r\n\r\n" + hidden
    return {
        "both": post(inner, f"Content-Length: {len(inner)}", "Transfer-Encoding: chunked"),
        "both, short": post(inner, "Content-Length: 5", "Transfer-Encoding: chunked"),
        "two lengths": post(hidden, "Content-Length: 0", f"Content-Length: {len(hidden)}"),
        "list of lengths": post(hidden, f"Content-Length: 0, {len(hidden)}"),
        "signed length": post(hidden, "Content-Length: +0"),
        "negative length": post(hidden, "Content-Length: -1"),
        "hex length": post(hidden, "Content-Length: 0x0"),
        "huge length": post(hidden, "Content-Length: 18446744073709551616"),
        "blank before the colon": post(hidden, "Content-Length : 0"),
        "folded line": post(hidden, "X: y", " Content-Length: 0"),
        "unknown coding": post(inner, "Transfer-Encoding: xchunked"),
        "chunked twice": post(inner, "Transfer-Encoding: chunked, chunked"),
        "chunked not last": post(inner, "Transfer-Encoding: chunked, identity"),
        "identity": post(inner, "Transfer-Encoding: identity"),
        "vertical tab": post(inner, "Transfer-Encoding: \x0bchunked"),
        "chunk extension with a bare LF": post(b"0;\n\r\n" + hidden, "Transfer-Encoding: chunked"),
        "chunk size with a sign": post(b"+0\r\n\r\n" + hidden, "Transfer-Encoding: chunked"),
        "chunk size 0x": post(b"0x0\r\n\r\n" + hidden, "Transfer-Encoding: chunked"),
        "chunk size too large": post(b"fffffffffffffffff0\r\n\r\n" + hidden,
                                     "Transfer-Encoding: chunked"),
        "chunk without its end": post(b"1\r\nxx0\r\n\r\n" + hidden, "Transfer-Encoding: chunked"),
        "bare LF": b"POST /jobs HTTP/1.1\nHost: h\nContent-Length: 0\n\n" + hidden,
        "bare CR": b"POST /jobs HTTP/1.1\rHost: localhost\r\n\r\n" + hidden,
        "NUL in a header": post(hidden, "X: a\0b", "Content-Length: 0"),
        "two hosts": post(hidden, "Host: other", "Content-Length: 0"),
        "no host": b"POST /jobs HTTP/1.1\r\nContent-Length: 0\r\n\r\n" + hidden,
        "HTTP/1.0 in chunks": inner.join([b"POST /jobs HTTP/1.0\r\nTransfer-Encoding: chunked\r\n"
                                          b"\r\n", b""]),
        "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + hidden,
        "blank in the target": b"POST /jobs /x HTTP/1.1\r\nHost: localhost\r\n\r\n" + hidden,
    }
