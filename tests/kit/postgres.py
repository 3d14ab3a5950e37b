"""Databases for cases, and a PostgreSQL server that a case may stop and freeze."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import urllib.parse
import uuid

from kit.checks import check
from kit.waiting import wait_until

START_SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "support" / "start_postgres.sh"


def psql(url, sql):
    """Runs SQL text and returns the output without headings."""
    return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql],
                          check=True, capture_output=True, text=True).stdout.strip()


def test_server():
    """Returns the URL of the server that ./dev test has started."""
    url = os.environ.get("KSANA_TEST_POSTGRES")
    check(url, "KSANA_TEST_POSTGRES names no server: tests/support/start_postgres.sh FOLDER")
    return url


def new_database(prefix="server"):
    """Creates a database on the test server and returns its URL."""
    name = f"{prefix}_{uuid.uuid4().hex[:12]}"
    psql(test_server(), f"CREATE DATABASE {name}")
    return urllib.parse.urlsplit(test_server())._replace(path="/" + name).geturl()


def store_of(kind):
    """Returns the store setting for "sqlite", "json" or "postgres"."""
    return new_database() if kind == "postgres" else kind


class OwnPostgres:
    """A PostgreSQL server for one case."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ksana_pg_")
        pathlib.Path(self.folder).chmod(0o755)
        self.url = self.script(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.script("stop", self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def script(*words):
        return subprocess.run(["bash", str(START_SCRIPT), *words], check=True,
                              capture_output=True, text=True).stdout.strip()

    def control(self, *words):
        """Runs pg_ctl, which waits until the server has finished the command."""
        tool = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))[-1]
        become = []
        if os.getuid() == 0:
            become = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]
        subprocess.run([*become, str(tool), "-D", f"{self.folder}/data", "-w", "-t", "60", "-l",
                        f"{self.folder}/server.log", *words], check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.control("-m", "fast", "stop")

    def start(self):
        port = urllib.parse.urlsplit(self.url).port
        self.control("-o", f"-p {port} -k {self.folder} -h 127.0.0.1", "start")

    def freeze(self):
        """Stops all processes of the server with SIGSTOP and returns their ids. The parent comes
        first, so that it starts no more processes."""
        with open(f"{self.folder}/data/postmaster.pid", encoding="ascii") as file:
            parent = int(file.readline())
        os.kill(parent, signal.SIGSTOP)
        wait_until(lambda: is_stopped(parent), "PostgreSQL to be stopped by SIGSTOP", pause=0.001)
        # Exit code 1: there are no child processes.
        found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True,
                               check=False).stdout.split()
        frozen = [parent, *map(int, found)]
        send(signal.SIGSTOP, frozen[1:])
        return frozen

    @staticmethod
    def thaw(frozen):
        send(signal.SIGCONT, frozen)


def send(number, processes):
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass


def is_stopped(process):
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"
