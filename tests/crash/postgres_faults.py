#!/usr/bin/env python3
"""What happens to PostgreSQL while four processes of several threads work on it.

usage: postgres_faults.py CHILD START_SCRIPT

All connections terminated, the server restarted, crashed and stopped for 20 s. The processes go on
by themselves afterwards; nothing that was acknowledged is lost, no run is started twice under one
fence.
"""
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

PROCESSES = 4
STOPPED_SECONDS = 20
CALM_SECONDS = 1.5      # of work between two faults


class Server:
    def __init__(self, script, folder):
        self.script, self.folder = script, folder
        self.url = self.run(folder)

    def run(self, *words):
        return subprocess.run(["bash", self.script, *words], check=True, capture_output=True,
                              text=True).stdout.strip()

    def pid(self):
        with open(os.path.join(self.folder, "data", "postmaster.pid"), encoding="ascii") as file:
            return int(file.readline())

    def signal(self, number):
        """To the server and all that it has started."""
        first = self.pid()
        children = subprocess.run(["pgrep", "-P", str(first)], capture_output=True, text=True)
        for pid in [first, *map(int, children.stdout.split())]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def control(self, *words):
        binary = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl"))[-1]
        command = [binary, "-D", os.path.join(self.folder, "data"), "-w", "-t", "60",
                   "-l", os.path.join(self.folder, "server.log"), *words]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups",
                       *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def query(self, text):
        subprocess.run(["psql", "-q", "-d", self.url, "-c", text], check=True,
                       stdout=subprocess.DEVNULL)


def count_lines(paths):
    return sum(open(path, encoding="utf-8").read().count("\n") for path in paths)


def await_progress(what, paths, children):
    """Every process acknowledges more than it had: it has recovered by itself."""
    before = [count_lines([path]) for path in paths]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if all(count_lines([path]) > had + 5 for path, had in zip(paths, before)):
            return
        for child in children:
            if child.poll() is not None:
                sys.exit(f"{what}: a process ended: {child.returncode}")
        time.sleep(0.05)
    sys.exit(f"{what}: no progress within 60 s")


def check(child, url, paths):
    lines = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines += file.readlines()
    started = [line for line in lines if line.startswith("started ")]
    if len(started) != len(set(started)):
        sys.exit("a run was started twice under one fence")
    merged = paths[0] + ".all"
    with open(merged, "w", encoding="utf-8") as file:
        file.writelines(lines)
    done = subprocess.run([child, "postgres", url, "check", merged], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    return len(lines), sum(line.startswith(("failed", "refused")) for line in lines)


def main():
    child, script = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix="ksana_faults_") as folder:
        os.chmod(folder, 0o755)
        server = Server(script, os.path.join(folder, "server"))
        children = []
        try:
            paths = [os.path.join(folder, f"lines{n}") for n in range(PROCESSES)]
            for path in paths:
                children.append(subprocess.Popen(
                    [child, "postgres", server.url, "work", "4", "100000000"],
                    stdout=open(path, "wb"), stderr=subprocess.DEVNULL))
            await_progress("start", paths, children)
            faults = {
                "connections terminated": lambda: server.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"),
                "restart": lambda: server.control("-m", "fast", "restart"),
                "crash": lambda: server.control("-m", "immediate", "restart"),
                "stopped": lambda: (server.signal(signal.SIGSTOP), time.sleep(STOPPED_SECONDS),
                                    server.signal(signal.SIGCONT)),
            }
            for what, fault in faults.items():
                time.sleep(CALM_SECONDS)
                fault()
                await_progress(what, paths, children)
                print(f"{what}: all {PROCESSES} processes went on", flush=True)
            for process in children:
                process.kill()
                process.wait()
            lines, refused = check(child, server.url, paths)
            print(f"{lines} changes acknowledged by {PROCESSES} processes, {refused} refused "
                  f"meanwhile; none lost, none double")
        finally:
            for process in children:
                process.kill()
                process.wait()
            server.run("stop", server.folder)


if __name__ == "__main__":
    main()
