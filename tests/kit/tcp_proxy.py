"""A proxy of TCP connections that behaves like a bad network: it cuts them, swallows what goes in
one direction while the connections stay open, or delays every piece."""
import contextlib
import socket
import threading

from kit.waiting import let_pass

UP, DOWN = "up", "down"     # from the client to the server, and back
PIECE = 65536               # bytes that are forwarded at a time


class TcpProxy:
    """Forwards connections to `port`. A case may call its methods at any time."""

    def __init__(self, port, host="127.0.0.1"):
        self.target = (host, port)
        self.lock = threading.Lock()
        self.pairs = set()
        self.refuses, self.swallows, self.pause = False, set(), 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def cut(self):
        """Ends all connections and accepts none."""
        with self.lock:
            self.refuses = True
        self.end_all()

    def swallow(self, *directions):
        """From now on what goes in these directions does not arrive; nobody is told."""
        with self.lock:
            self.swallows = set(directions)

    def delay(self, seconds):
        """Forwards every piece that much later."""
        with self.lock:
            self.pause = seconds

    def heal(self):
        """Works well again. Connections that have lost something are ended."""
        with self.lock:
            lost = self.swallows
            self.refuses, self.swallows, self.pause = False, set(), 0
        if lost:
            self.end_all()

    def end_all(self):
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:         # closed
                return
            with self.lock:
                refuses = self.refuses
            try:
                server = None if refuses else socket.create_connection(self.target)
            except OSError:
                server = None
            if server is None:
                client.close()
                continue
            with self.lock:
                self.pairs.add((client, server))
            for source, sink, direction in ((client, server, UP), (server, client, DOWN)):
                threading.Thread(target=self.forward, args=(source, sink, direction),
                                 daemon=True).start()

    def forward(self, source, sink, direction):
        with contextlib.suppress(OSError):
            while data := source.recv(PIECE):
                with self.lock:
                    swallowed, pause = direction in self.swallows, self.pause
                if pause:
                    let_pass(pause, "the network is slow")
                if not swallowed:
                    sink.sendall(data)
        with self.lock:
            swallowed = direction in self.swallows
        if swallowed:               # nor does the end of a connection arrive
            return
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.listener.close()
        self.end_all()
