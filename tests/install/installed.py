"""The installed library, and programs that were built with it."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading

from kit.checks import Failure, check, equal
from kit.waiting import PATIENCE, wait_on


def run_command(words, **options):
    """Runs a command and returns its output; fails if it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, **options)
    equal(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed:
    """The library of a build folder, installed into a folder that was moved afterwards: nothing
    may depend on the place. Removed at the end."""

    def __init__(self, given):
        self.given = given
        self.cmake, self.source = given.cmake, pathlib.Path(given.source)
        self.build_folder = pathlib.Path(given.build)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ksana_library_"))
        self.first_prefix, self.prefix = self.folder / "first", self.folder / "moved"

    def __enter__(self):
        # Without debug information, as with ./dev install: the programs link faster.
        run_command([self.cmake, "--install", self.build_folder, "--component", "library",
                     "--strip", "--prefix", self.first_prefix])
        self.first_prefix.rename(self.prefix)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_folder(self):
        return pathlib.Path(tempfile.mkdtemp(dir=self.folder))

    def build(self, project, compiler="g++", *options):
        """Builds a project (a path in the sources) and returns the folder with its programs."""
        folder = self.new_folder()
        run_command([self.cmake, "-G", "Ninja", "-S", self.source / project, "-B", folder,
                     f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={compiler}",
                     "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror",
                     "-DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON", *options])
        run_command([self.cmake, "--build", folder])
        return folder

    def pkg_config(self, *options):
        environment = {**os.environ, "PKG_CONFIG_PATH": f"{self.prefix}/lib/pkgconfig"}
        return run_command(["pkg-config", *options, "ksana"], env=environment).split()


class Program:
    """A running program. `out` and `log` are the lines of its standard output and error."""

    def __init__(self, words, folder):
        self.out, self.log = [], []
        self.said = threading.Condition()
        self.process = subprocess.Popen([str(word) for word in words], cwd=folder, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.out),
                                     (self.process.stderr, self.log))]
        for reader in self.readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()

    def read(self, stream, lines):
        with stream:
            for line in stream:
                with self.said:
                    lines.append(line.rstrip("\n"))
                    self.said.notify_all()

    def wait(self, look, what):
        """Waits until `look()` is true after a line; returns its value."""
        try:
            return wait_on(self.said, look, what)
        except Failure as error:
            raise Failure(f"{error}\n" + "\n".join(self.out + self.log)) from None

    def stop(self):
        """Asks the program to end, which must be with exit code 0."""
        check(self.process.poll() is None, f"it has ended: {self.log}")
        self.process.send_signal(signal.SIGTERM)
        equal(self.process.wait(PATIENCE), 0, f"exit code\n{self.log}")
        for reader in self.readers:
            reader.join()

    def kill(self):
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()
