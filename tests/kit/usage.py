"""Memory and disk space of a server and its store while the server works."""
import contextlib
import os
import pathlib
import re
import threading
import time

from kit.postgres import psql

# The tables of the schema ksana, without those of PostgreSQL itself.
POSTGRES_SIZE = ("SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
                 "JOIN pg_namespace n ON n.oid = c.relnamespace "
                 "WHERE n.nspname = 'ksana' AND c.relkind IN ('r', 'm')")
PAUSES = {"sqlite": 0.05, "postgres": 0.5}


def memory_of(server, key="VmRSS"):
    """Returns a member of /proc/PID/status in bytes."""
    with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(key + ":"))


class UsageWatch:
    """Measures repeatedly on its own thread, and keeps the highest values of every phase."""

    def __init__(self, server, kind):
        self.server, self.kind = server, kind
        self.phases = []        # [name, start time, {what: highest value}]
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start(self):
        self.thread.start()

    def stop(self):
        self.ended.set()
        if self.thread.is_alive():
            self.thread.join()

    def phase(self, name):
        """Begins a phase and ends the previous one."""
        with self.lock:
            self.phases.append([name, time.monotonic(), {}])
        self.look()

    def run(self):
        while not self.ended.wait(PAUSES[self.kind]):
            self.look()

    def look(self):
        found = {"store": self.store_size(), "log": self.log_size(), "memory": self.memory()}
        with self.lock:
            if not self.phases:
                return
            most = self.phases[-1][2]
            for what, size in found.items():
                most[what] = max(size, most.get(what, 0))

    def memory(self):
        """Returns the resident memory in bytes; 0 if the server is not running."""
        with contextlib.suppress(OSError):
            status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
            found = re.search(r"VmRSS:\s+(\d+) kB", status)
            return int(found.group(1)) * 1024 if found else 0
        return 0

    def file_size(self, suffix):
        path = os.path.join(self.server.environment["DATA_DIR"], "ksana.db" + suffix)
        return os.path.getsize(path) if os.path.exists(path) else 0

    def store_size(self):
        if self.kind == "sqlite":
            return self.file_size("")
        return int(psql(self.server.store, POSTGRES_SIZE))

    def log_size(self):
        """Returns the size of SQLite's log. PostgreSQL has one log for all databases; it is not
        measured."""
        return self.file_size("-wal") if self.kind == "sqlite" else 0

    def vacuum(self):
        """Vacuums now, as PostgreSQL does by itself within a minute. Only then is free space
        used again."""
        if self.kind == "postgres":
            psql(self.server.store, "VACUUM")

    def most(self, what):
        return max(most.get(what, 0) for _, _, most in self.phases)

    def table(self):
        lines = [f"{'phase':14}{'s':>7}{'store MB':>10}{'log MB':>8}{'memory MB':>11}"]
        ends = [begin for _, begin, _ in self.phases[1:]] + [time.monotonic()]
        for (name, begin, most), end in zip(self.phases, ends):
            sizes = [most.get(what, 0) / 1e6 for what in ("store", "log", "memory")]
            lines.append(f"{name:14}{end - begin:7.1f}{sizes[0]:10.1f}{sizes[1]:8.1f}"
                         f"{sizes[2]:11.1f}")
        return "\n".join(lines)


def sleepers(mark):
    """Returns the processes `sleep MARK`: what a command of a test leaves behind."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if words[:2] == [b"sleep", mark.encode()]:
                found.append(int(folder.name))
    return found
