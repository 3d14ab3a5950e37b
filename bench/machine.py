"""Starts and stops the processes of the server benchmarks, and reads their CPU time and memory
from the kernel."""
import collections
import contextlib
import http.client
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PROGRAMS = BUILD / "bench" / "bench" / "timer"      # the programs of the timer benchmark
KSANA = pathlib.Path(os.environ.get("KSANA_BENCH_BINARY") or BUILD / "release" / "ksana")
READY = re.compile(r"ksana is ready.* url=\"?http://[0-9.]+:(\d+)")
TICKS = os.sysconf("SC_CLK_TCK")
QUIET = 0.10    # share of all cores that other processes may use before the numbers are in doubt


def micros():
    return time.time_ns() // 1000


def wait_for(check, patience, what, pause=0.01):
    """Polls check() until its result is true, and returns the result. Raises TimeoutError."""
    deadline = time.monotonic() + patience
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {patience:.0f} s")
        time.sleep(pause)


@contextlib.contextmanager
def folder():
    """Creates a folder on the disk of the build, and deletes it afterwards."""
    BUILD.mkdir(exist_ok=True)
    path = pathlib.Path(tempfile.mkdtemp(prefix="bench_", dir=BUILD))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def running(command, patience=40, **how):
    """Runs a process and ends it with the block: SIGTERM first."""
    process = subprocess.Popen(command, **how)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                print(f"   {command[0]} (pid {process.pid}) did not stop within {patience} s: "
                      "killed", flush=True)
                process.kill()
                process.wait()


class Http:
    """An HTTP client with one kept-alive connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method, path, body=None):
        body = json.dumps(body) if body is not None else None
        try:
            self.connection.request(method, path, body)
            response = self.connection.getresponse()
        except (http.client.HTTPException, OSError):    # the server has closed the idle connection
            self.connection.close()
            self.connection.request(method, path, body)
            response = self.connection.getresponse()
        text = response.read().decode()
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {text}")
        return text


class Target(Http):
    """A client of the recording target."""

    def __init__(self, port):
        super().__init__(port)
        self.url = f"http://127.0.0.1:{port}/call"

    def count(self):
        return json.loads(self.ask("GET", "/count"))

    def stats(self, first=0, end=2**62):
        return json.loads(self.ask("GET", f"/stats?from_us={first}&to_us={end}"))

    def reset(self):
        self.ask("POST", "/reset")


@contextlib.contextmanager
def target():
    with running([PROGRAMS / "ksana_timer_target"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                 text=True) as process:
        yield Target(int(process.stdout.readline()))


class Ksana(Http):
    """A client of a running server."""

    def __init__(self, process, port, log):
        super().__init__(port)
        self.process, self.port, self.log = process, port, log
        self.pid = process.pid

    def metrics(self):
        """Returns {name with labels: value}."""
        lines = (line.rpartition(" ") for line in self.ask("GET", "/metrics").splitlines()
                 if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    def ended_badly(self):
        """Returns the states of runs that did not succeed, with their counts."""
        return {name.split('"')[1]: int(value) for name, value in self.metrics().items()
                if name.startswith("ksana_runs_finished_total") and value
                and "succeeded" not in name}

    def warnings(self):
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if re.match(r"\S+ (warn|error) ", line)]


def ksana_command(place, store, log, workers):
    return ([KSANA, "server", "--port", "0", "--store", store, "--log-file", log,
             "--workers", str(workers), "--late-start-rate", "1000000"],
            {"env": {"PATH": os.environ["PATH"]}, "cwd": place,
             "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL})


def ksana(store, workers=256, patience=60):
    """Runs a server with this SQLite file as its store."""
    return ksana_on(store.parent, f"sqlite:{store}", workers, patience)


@contextlib.contextmanager
def ksana_on(place, store, workers=256, patience=60, environment=None):
    """Runs a server with the store of this URL; its log is in the folder."""
    log = place / "ksana.log"
    log.unlink(missing_ok=True)
    command, how = ksana_command(place, store, log, workers)
    how["env"] |= environment or {}
    with running(command, **how) as process:
        def port():
            if process.poll() is not None:
                raise RuntimeError(f"ksana ended with {process.returncode} at its start")
            found = READY.search(log.read_text(errors="replace")) if log.exists() else None
            return int(found.group(1)) if found else None
        server = Ksana(process, wait_for(port, patience, "the server is ready"), log)
        try:
            yield server
        finally:
            lines = server.warnings()
            for line in lines[:3]:
                print("   the server said:", line, flush=True)
            if len(lines) > 3:
                print(f"   … and {len(lines) - 3} more warnings", flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def nginx(place):
    """Runs an nginx that answers 204 to everything, and yields its port."""
    port = free_port()
    temporary = "".join(f"{kind}_temp_path {place}/{kind}; "
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (place / "nginx.conf").write_text(
        f"worker_processes 1; daemon off; pid {place}/nginx.pid; error_log {place}/error.log;\n"
        "events { worker_connections 4096; }\n"
        f"http {{ access_log off; keepalive_requests 100000000; {temporary}\n"
        f"server {{ listen 127.0.0.1:{port} backlog=4096;\n"
        "location / { return 204; } location = /status { stub_status; } } }\n")
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    with running([program, "-p", place, "-c", place / "nginx.conf"], stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL):
        def open_port():
            with contextlib.suppress(OSError):
                return Http(port).ask("GET", "/status")
        wait_for(open_port, 10, "nginx answers")
        yield port


def memory(pid):
    """Returns (RSS, PSS) in MiB."""
    found = {}
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        words = line.split()
        if words[0] in ("Rss:", "Pss:"):
            found[words[0]] = int(words[1]) / 1024
    return found["Rss:"], found["Pss:"]


def cpu_by_thread(pid):
    """Returns {thread name: CPU seconds}. Threads whose names differ only by a number are added
    up."""
    found = collections.Counter()
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):      # the thread may have ended
            name = (thread / "comm").read_text().strip().rstrip("0123456789").rstrip("_")
            found[name] += int((thread / "schedstat").read_text().split()[0]) / 1e9
    return found


def cpu_seconds(pid):
    return sum(cpu_by_thread(pid).values())


def family(pid):
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{one}/task"):
                text = pathlib.Path(f"/proc/{one}/task/{thread}/children").read_text()
                waiting += [int(child) for child in text.split()]
    return found


class OthersShare:
    """Measures the share of all cores that other processes have used since its creation."""

    def __init__(self):
        self.time, self.busy, self.own = time.monotonic(), self.all_busy(), self.our_own()

    @staticmethod
    def all_busy():
        words = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()
        numbers = [int(word) for word in words[1:9]]
        return (sum(numbers) - numbers[3] - numbers[4]) / TICKS

    @staticmethod
    def our_own():
        total = 0
        for pid in family(os.getpid()):
            with contextlib.suppress(OSError):
                text = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
                total += sum(int(word) for word in text.split()[11:15])
        return total / TICKS

    def so_far(self):
        used = (self.all_busy() - self.busy) - (self.our_own() - self.own)
        return max(0.0, used / ((time.monotonic() - self.time) * os.cpu_count()))


def cpu_name():
    return next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                 if line.startswith("model name")), platform.machine())
