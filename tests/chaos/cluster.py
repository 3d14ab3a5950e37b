"""Three servers on one PostgreSQL, and workers in network namespaces of their own.

Each worker reaches the servers through a pair of virtual interfaces; taking the outer one down cuts
it off without closing a connection, as a broken cable does.
"""
import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess

from kit.checks import check
from kit.postgres import OwnPostgres
from kit.server import Server
from kit.waiting import wait_until

LEASE = 5               # seconds; setting of the servers and of the workers
WORKER_TIMEOUT = 6      # seconds without a heartbeat until a worker counts as down


def free_port():
    """Returns a port for a server that must keep it over restarts."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


def delete_stale_networks():
    """Deletes the namespaces of runs that were killed: their addresses are those of this run."""
    for space in pathlib.Path("/run/netns").glob("ksana_*_*"):
        if not pathlib.Path("/proc", space.name.split("_")[1]).exists():
            ip("netns", "del", space.name)      # deletes its interfaces, too


class Node(Server):
    """A server that workers of other network namespaces can reach, so it needs a token."""

    def __init__(self, binary, store, name, folder, token_file, token, **more):
        self.token = token
        super().__init__(binary, store, folder=str(folder), environment={
            **more,
            "PORT": str(free_port()), "KSANA_ADDRESS": "0.0.0.0", "KSANA_NODE_NAME": name,
            "KSANA_API_TOKEN_FILE": str(token_file), "KSANA_LEASE": f"{LEASE}s",
            "KSANA_WORKER_HEARTBEAT": "1s", "KSANA_WORKER_TIMEOUT": f"{WORKER_TIMEOUT}s",
            "KSANA_WORKERS": "32"})
        self.name, self.stopped = name, False

    def request(self, method, path, body=None, headers=None):
        return super().request(method, path, body,
                               {"Authorization": f"Bearer {self.token}", **(headers or {})})

    def alive(self):
        return self.process is not None and self.process.poll() is None


class WorkerProcess:
    """`ksana worker` in its network namespace."""

    def __init__(self, binary, number, ports, token, folder, broker=None):
        self.binary, self.number, self.token, self.folder = binary, number, token, folder
        self.name, self.space = f"worker-{number}", f"ksana_{os.getpid()}_{number}"
        self.outside, self.inside = f"ks{os.getpid() % 100000}o{number}", f"ks{number}"
        self.net = f"10.83.{number}"
        self.servers = ",".join(f"http://{self.net}.1:{port}" for port in ports)
        self.broker = broker.replace("127.0.0.1", f"{self.net}.1") if broker else None
        self.process, self.stopped, self.is_cut = None, False, False

    def open_network(self):
        ip("netns", "add", self.space)
        ip("link", "add", self.outside, "type", "veth", "peer", "name", self.inside, "netns",
           self.space)
        ip("addr", "add", f"{self.net}.1/30", "dev", self.outside)
        ip("link", "set", self.outside, "up")
        for words in (("addr", "add", f"{self.net}.2/30", "dev", self.inside),
                      ("link", "set", self.inside, "up"), ("link", "set", "lo", "up")):
            ip("-n", self.space, *words)

    def start(self, *flags):
        if self.broker:
            flags = (*flags, "--broker", self.broker)
        with open(self.folder / f"{self.name}.log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", self.space, self.binary, "worker", "--server", self.servers,
                 "--name", self.name, "--slots", "8", "--lease", f"{LEASE}s", *flags],
                env={"PATH": os.environ["PATH"], "KSANA_TOKEN": self.token,
                     "KSANA_LOG_FORMAT": "text"},
                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=log)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.stopped = False

    def stop(self):
        """Drains the worker and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def cut(self, is_cut):
        ip("link", "set", self.outside, "down" if is_cut else "up")
        self.is_cut = is_cut

    def close(self):
        if self.alive():
            self.kill()
        subprocess.run(["ip", "netns", "del", self.space], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self.outside], check=False, capture_output=True)

    def log(self):
        path = self.folder / f"{self.name}.log"
        return "\n".join(path.read_text(encoding="utf-8").splitlines()[-30:])


class Cluster:
    """All processes. Closing it stops them and removes the namespaces. With the URL of a broker,
    servers publish to it, and all workers but the last take their tasks from it."""

    def __init__(self, binary, folder, servers=3, workers=3, broker=None):
        self.binary, self.folder = binary, pathlib.Path(folder)
        self.folder.chmod(0o755)
        self.database = OwnPostgres()
        token = secrets.token_urlsafe(32)
        self.token_file = self.folder / "token"
        self.token_file.write_text(token, encoding="utf-8")
        self.token_file.chmod(0o600)
        self.nodes = []
        for number in range(servers):
            place = self.folder / f"node-{number}"
            place.mkdir()
            settings = {"KSANA_BROKER": broker, "KSANA_BROKER_WAIT": "10s"} if broker else {}
            self.nodes.append(Node(binary, self.database.url, f"node-{number}", place,
                                   self.token_file, token, **settings))
        ports = [node.environment["PORT"] for node in self.nodes]
        self.workers = [WorkerProcess(binary, number, ports, token, self.folder,
                                      broker if number < workers else None)
                        for number in range(1, workers + 1)]

    def start(self, *worker_flags):
        for node in self.nodes:
            node.start()
        delete_stale_networks()
        for worker in self.workers:
            worker.open_network()
            worker.start(*worker_flags)

    def any_node(self):
        return next((node for node in self.nodes if node.alive() and not node.stopped), None)

    def call(self, method, path, body=None, expect=200):
        node = self.any_node()
        check(node is not None, "no server is there")
        return node.call(method, path, body, expect)

    def await_workers(self, count, within=30):
        def alive():
            items = self.call("GET", "/api/v1/workers")["items"]
            return sum(1 for item in items if item["state"] == "alive") == count
        wait_until(alive, lambda: f"{count} live workers\n" + self.workers[0].log(), within,
                   ignoring=(OSError,))

    def export(self):
        """Returns the records of the store, by kind."""
        text = subprocess.run([self.binary, "export", "--store", self.database.url], check=True,
                              capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"]}).stdout
        records = {}
        for line in text.splitlines():
            for kind, body in json.loads(line).items():
                records.setdefault(kind, []).append(body)
        return records

    def close(self):
        for worker in self.workers:
            worker.close()
        for node in self.nodes:
            if node.alive():
                node.process.send_signal(signal.SIGCONT)
                node.process.kill()
                node.process.wait()
        self.database.__exit__()
