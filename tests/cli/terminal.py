"""A program on a terminal of its own, as a person would use it."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

PATIENCE = 30


class Screen:
    """Runs a command on a pseudo-terminal; everything that it writes is kept as text."""

    def __init__(self, command, environment, folder, columns=80, rows=24):
        self.text, self.code = "", None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                # Before the program starts, so that it never sees another size.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.chdir(folder)
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)

    def resize(self, columns, rows):
        """The kernel tells the program by SIGWINCH."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def send(self, number):
        os.kill(self.pid, number)

    def _read(self, seconds):
        """False: the program has closed its terminal."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:             # how Linux says that the other side is closed
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def expect(self, part, start=0):
        """Waits until it has written this; where that is."""
        deadline = time.monotonic() + PATIENCE
        while self.text.find(part, start) < 0:
            left = deadline - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"it did not write {part!r}: {self.text[-2000:]!r}")
        return self.text.find(part, start) + len(part)

    def end(self):
        """Waits for its end; the exit code (as a shell tells it) and all that it has written."""
        deadline = time.monotonic() + PATIENCE
        while self._read(max(0, deadline - time.monotonic())):
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                break
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        code = os.waitstatus_to_exitcode(status)
        self.code = code if code >= 0 else 128 - code
        return self.code, self.text.replace("\r\n", "\n")
