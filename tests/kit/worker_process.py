"""`ksana worker` as a separate process."""
import os
import signal
import subprocess
import threading

from kit.checks import Failure
from kit.waiting import PATIENCE, wait_on


class WorkerProcess:
    """A worker with its log. `servers` are kit.server.Server objects."""

    def __init__(self, binary, servers, *flags, name="w1", folder=None):
        urls = ",".join(server.url for server in servers)
        self.name, self.lines, self.said, self.ended = name, [], threading.Condition(), False
        self.process = subprocess.Popen(
            [binary, "worker", "--server", urls, "--name", name, *flags], cwd=folder or "/tmp",
            env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with self.process.stderr:
            for line in self.process.stderr:
                with self.said:
                    self.lines.append(line)
                    self.said.notify_all()
        with self.said:
            self.ended = True
            self.said.notify_all()

    def log(self):
        return "".join(self.lines[-40:])

    def await_line(self, part, after=0, patience=PATIENCE):
        """Returns the first line with this text, of those after the first `after` lines."""
        return wait_on(self.said, lambda: next((line for line in self.lines[after:]
                                                if part in line), None),
                       lambda: f"the log line {part!r} of {self.name}\n{self.log()}", patience)

    def await_registered(self):
        self.await_line("registered")
        return self

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def wait(self, patience=PATIENCE):
        """Returns the exit code."""
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise Failure(f"the worker {self.name} did not end\n{self.log()}") from None

    def stop(self, patience=PATIENCE):
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        return self.wait(patience)

    def __enter__(self):
        return self

    def __exit__(self, _, error, __):
        if error is not None:
            error.add_note(f"worker {self.name}:\n{self.log()}")
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.kill()
