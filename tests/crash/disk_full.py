#!/usr/bin/env python3
"""A store at work on a disk that is really full.

usage: disk_full.py CHILD DRIVER

The files are on a file system of a few megabytes that only this process sees. A child with several
threads writes until the disk is full: every caller gets an error. When space is freed, the child
continues until the disk is full again, and is then killed. Every acknowledged change is there, and
no refused one. A store that cannot be opened for lack of space opens once there is some.

Mounting needs root. Without root a limit on the size of files (RLIMIT_FSIZE) replaces the disk.
"""
import contextlib
import ctypes
import fcntl
import os
import resource
import shutil
import subprocess
import tempfile

import crash

from kit.cases import arguments, case, run, say
from kit.checks import fail

DISK_BYTES = 32 << 20
# A store fills this with a few hundred changes. It is free at first, and is freed TIMES times.
ROOM_BYTES = {"json": 256 << 10, "sqlite": 4 << 20}
TIMES = 4
LAST_ROOM_BYTES = 4 << 20               # freed at the end
THREADS = 4
REFUSED_BYTES = 2_000                   # of output about refusals; then the disk counts as full
PIPE_BYTES = 4096                       # unread output of the child
CANNOT_OPEN = 4                         # exit code of the child
CLONE_NEWNS = 0x20000


class Disk:
    """A small disk in its own mount namespace, which ends with this process."""

    def __init__(self, folder, room):
        self.folder = os.path.join(folder, "disk")
        os.makedirs(self.folder)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNS) != 0:
            raise OSError(f"unshare: {os.strerror(ctypes.get_errno())}")
        image = os.path.join(folder, "image")
        with open(image, "wb") as file:
            file.truncate(DISK_BYTES)
        self.run("mount", "--make-rprivate", "/")
        try:
            self.run("mkfs.ext4", "-q", "-F", "-m", "0", image)
            self.run("mount", "-o", "loop", image, self.folder)
            self.kind = "ext4"
        except OSError:
            self.run("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", self.folder)
            self.kind = "tmpfs"
        space = os.statvfs(self.folder)
        sizes = [room] * TIMES + [LAST_ROOM_BYTES]
        sizes.append(space.f_bavail * space.f_frsize - room - sum(sizes))   # never freed
        self.ballast = [self.put(number, size) for number, size in enumerate(sizes)]

    def put(self, number, size):
        path = os.path.join(self.folder, f"ballast{number}")
        with open(path, "wb") as file:
            file.write(b"b" * size)
        return path

    @staticmethod
    def run(*words):
        try:
            subprocess.run(words, check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            raise OSError(f"{words[0]}: {error.stderr.strip()}") from error

    def start(self, command):
        return subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)

    def free(self, _):
        os.unlink(self.ballast.pop(0))

    def close(self):
        self.run("umount", self.folder)


class Limit:
    """A limit on the size of every file of a process."""

    def __init__(self, folder, room):
        self.folder = os.path.join(folder, "limited")
        os.makedirs(self.folder)
        self.kind = "a limit on the size of files"
        self.limits = [room * (time + 1) for time in range(TIMES + 1)]

    def start(self, command):
        # Python ignores SIGXFSZ; without restore_signals its child ignores it too.
        limit = self.limits[0]
        return subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0,
                                restore_signals=False,
                                preexec_fn=lambda: resource.setrlimit(
                                    resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)))

    def free(self, process):
        self.limits.pop(0)
        if self.limits:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE,
                             (self.limits[0], resource.RLIM_INFINITY))

    def close(self):
        pass


def small_disk(folder, room):
    try:
        return Disk(folder, room)
    except OSError as error:
        say(f"no disk of our own ({error}): files are limited instead")
        return Limit(folder, room)


class Child:
    """A child that works until it is killed; its output goes to a file."""

    def __init__(self, disk, command, lines):
        self.process = disk.start(command)
        fcntl.fcntl(self.process.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.lines = open(lines, "ab")

    def wait_for(self, size, refused):
        """Reads `size` bytes of output about refused, or acknowledged, changes."""
        for line in self.process.stdout:
            self.lines.write(line)
            if line.startswith((b"failed ", b"refused ", b"unknown ")) == refused:
                size -= len(line)
            if size < 0:
                return
        fail(f"the child ended: {self.process.wait()}")

    def kill(self):
        self.process.kill()
        self.lines.write(self.process.stdout.read())
        self.process.wait()
        self.lines.close()


def check_copy(child, driver, disk, folder, lines):
    """Checks, on a copy elsewhere, that every acknowledged change is on the full disk."""
    copy = os.path.join(folder, "copy")
    shutil.copytree(disk.folder, copy,
                    ignore=shutil.ignore_patterns("ballast*", "lost+found", "*-shm"))
    crash.check_store(child, driver, os.path.join(copy, crash.FILES[driver]), lines, "a copy")


def reopen_without_room(child, driver, path, lines):
    """The store may refuse to open, with a message; it must not crash or lose changes."""
    done = subprocess.run([child, driver, path, "check", lines], capture_output=True, text=True)
    if done.returncode not in (0, CANNOT_OPEN):
        fail(f"opened on a full disk: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return "opens" if done.returncode == 0 else done.stdout.strip()


@case
def a_full_disk_loses_nothing(child, driver, disk, folder):
    path = os.path.join(disk.folder, crash.FILES[driver])
    lines = os.path.join(folder, "lines")
    worker = Child(disk, [child, driver, path, "work", str(THREADS), "100000000"], lines)
    try:
        worker.wait_for(REFUSED_BYTES, refused=True)
        for _ in range(TIMES):
            disk.free(worker.process)
            worker.wait_for(PIPE_BYTES, refused=False)     # the last of it used the new space
            worker.wait_for(REFUSED_BYTES, refused=True)
    finally:
        worker.kill()
    check_copy(child, driver, disk, folder, lines)
    said = reopen_without_room(child, driver, path, lines)
    disk.free(worker.process)
    crash.check_store(child, driver, path, lines, "after space was freed")
    with open(lines, encoding="utf-8") as file:
        refused = sum(line.startswith(("failed", "refused")) for line in file)
    say(f"{disk.kind}: {crash.acknowledged(lines) - refused} changes acknowledged and there, "
          f"{refused} refused and not; the full store: {said}")


@contextlib.contextmanager
def full_place(given):
    with tempfile.TemporaryDirectory(prefix="ksana_full_") as folder:
        disk = small_disk(folder, ROOM_BYTES[given.driver])
        try:
            yield given.child, given.driver, disk, folder
        finally:
            disk.close()


if __name__ == "__main__":
    words = arguments("CHILD DRIVER")
    run(words, lambda _: full_place(words))
