"""A program on a pseudo-terminal."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios

from kit.checks import Failure
from kit.waiting import wait_until

LOOK = 0.1              # seconds that one read waits for output


class Screen:
    """Runs a command on a pseudo-terminal and keeps all its output as text."""

    def __init__(self, command, environment, folder, columns=80, rows=24):
        self.text, self.code, self.closed = "", None, False
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                # Sets the size before the program starts, so that it never sees another one.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.chdir(folder)
                os.execvpe(command[0], command, environment)
            finally:
                os._exit(127)

    def resize(self, columns, rows):
        """Resizes the terminal; the kernel sends SIGWINCH to the program."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def send(self, number):
        os.kill(self.pid, number)

    def read(self):
        """Keeps the new output of the program, and notes whether it has closed the terminal."""
        ready, _, _ = select.select([self.fd], [], [], LOOK)
        if not ready:
            return
        try:
            data = os.read(self.fd, 65536)
        except OSError:             # on Linux: the terminal is closed
            data = b""
        self.text += data.decode(errors="replace")
        self.closed = not data

    def expect(self, part, start=0):
        """Waits until the program has written this text, and returns the position after it."""
        def is_there():
            if self.text.find(part, start) < 0 and not self.closed:
                self.read()
            return self.text.find(part, start) >= 0 or self.closed

        wait_until(is_there, lambda: f"{part!r} on the terminal: {self.text[-2000:]!r}", pause=0)
        if self.text.find(part, start) < 0:
            raise Failure(f"the program ended without {part!r}: {self.text[-2000:]!r}")
        return self.text.find(part, start) + len(part)

    def end(self):
        """Waits for the program to exit. Returns its exit code as a shell reports it, and its
        text. Kills a program that does not exit."""
        def is_closed():
            self.read()
            return self.closed

        try:
            wait_until(is_closed, "the program to end", pause=0)
        except Failure:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        code = os.waitstatus_to_exitcode(status)
        self.code = code if code >= 0 else 128 - code
        return self.code, self.text.replace("\r\n", "\n")

    def close(self):
        """Closes the terminal, which ends a running program. Used instead of end()."""
        os.close(self.fd)
        os.waitpid(self.pid, 0)
