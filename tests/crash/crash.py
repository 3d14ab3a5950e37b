#!/usr/bin/env python3
"""Kills the process of a store in many ways and checks that no acknowledged change is lost (K-13).

usage: crash.py CHILD DRIVER [CASE…]

CASE  random  kill -9 after a random time, several threads at work, always on the same files
      sweep   kill -9 at the n-th write, sync and rename, for n = 1, 2, … until the child completes
      errors  the n-th sync or write fails (EIO, ENOSPC): the caller gets the error, work continues

With the JSON driver the child rewrites its log every few steps; each case makes sure that it was
interrupted there, too.
"""
import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import tempfile

from kit.cases import add_case, arguments, run, say
from kit.checks import check, fail
from kit.waiting import wait_until

CALLS = {
    "json": "pwrite64,fsync,fdatasync,rename,ftruncate,unlink",
    "sqlite": "pwrite64,fsync,fdatasync,ftruncate,unlink",
}
FILES = {"json": "jobs.json", "sqlite": "ksana.db"}
NEW_LOG = "jobs.runs.jsonl.tmp"     # replaces the log
SWEEP_STEPS = 9          # of the child, one thread: each kind of transaction at least twice
MAX_SWEEP = 2000         # calls; a child that makes more is a bug in this test
RANDOM_ROUNDS = 25
LONG = 120               # seconds
SEED = int(os.environ.get("KSANA_CRASH_SEED", "1"))


def run_child(command, lines, seconds=None):
    """Runs the child and appends its output to `lines`; kills it after `seconds`."""
    with open(lines, "ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
        try:
            _, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            _, err = process.communicate()
    return process.returncode, err.decode(errors="replace")


def files_are_sound(driver, path):
    if driver == "sqlite":
        with sqlite3.connect(path) as database:
            answer = database.execute("PRAGMA integrity_check").fetchone()[0]
        database.close()
        return answer == "ok" or fail(f"integrity_check: {answer}")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            json.load(file)
    return True


def check_store(child, driver, path, lines, what):
    """Checks that the store has every acknowledged change."""
    files_are_sound(driver, path)
    done = subprocess.run([child, driver, path, "check", lines], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{what}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def acknowledged(lines):
    with open(lines, encoding="utf-8") as file:
        return sum(1 for line in file if line not in ("open\n", "end\n"))


def kill_at_new_log(command, lines, log):
    """Kills the child as soon as a new file has the name of the log."""
    old = os.stat(log).st_ino
    with open(lines, "ab") as out, subprocess.Popen(command, stdout=out) as process:
        def is_new():
            check(process.poll() is None, "the child ended before it wrote the log anew")
            return os.stat(log).st_ino != old

        try:
            # No pause: the kill has to come soon after the new log.
            wait_until(is_new, "the log to be written anew", within=LONG, pause=0)
        finally:
            process.kill()


def random_kills(child, driver, folder):
    chance = random.Random(SEED)
    path = os.path.join(folder, FILES[driver])
    lines = os.path.join(folder, "lines")
    command = [child, driver, path, "work", "8", "100000"]
    for number in range(1, RANDOM_ROUNDS + 1):
        run_child(command, lines, chance.uniform(0.02, 0.35))
        check_store(child, driver, path, lines, f"random kill {number} (seed {SEED})")
    if driver == "json":
        kill_at_new_log(command, lines, os.path.join(folder, "jobs.runs.jsonl"))
        check_store(child, driver, path, lines, "kill behind a new log")
    say(f"{RANDOM_ROUNDS} kills, {acknowledged(lines)} acknowledged changes, none lost")


def inject(child, driver, path, lines, what):
    """Returns the exit code, standard error, and whether the last call before the injected one
    renamed a new log."""
    trace = lines + ".trace"
    # Of openat only calls for the folder: the program opens many files before the store does.
    traced = ["-e", f"trace={CALLS[driver]}"]
    if what.startswith("openat:"):
        traced = ["-e", "trace=openat", "-P", os.path.dirname(path)]
    command = ["strace", "-f", "-qq", "-o", trace, *traced, "-e", f"inject={what}",
               child, driver, path, "work", "1", str(SWEEP_STEPS)]
    code, err = run_child(command, lines, 60)
    with open(trace, encoding="utf-8", errors="replace") as file:
        calls = file.read().splitlines()
    after_new_log = any(NEW_LOG in before and "rename" in before and
                        ("INJECTED" in call or call.endswith("= ?"))
                        for before, call in zip(calls, calls[1:]))
    return code, err, after_new_log


def fresh(folder, driver):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return os.path.join(folder, FILES[driver]), os.path.join(folder, "lines")


def prepared(child, driver, folder):
    """Prepares a store that already exists. strace counts calls per thread. If the main thread
    created the files, the count would not reach the first calls of the writer thread."""
    path, lines = fresh(folder, driver)
    run_child([child, driver, path, "work", "1", "3"], lines)
    return path, lines


def sweep(child, driver, folder, tries=5):
    """strace also counts per kind of call, so every kind gets its own sweep. The timing of the
    threads decides when the log is rewritten; a sweep that missed this is repeated."""
    crashes = 0
    new_logs = 0
    place = os.path.join(folder, "sweep")
    for start in (lambda: fresh(place, driver), lambda: prepared(child, driver, place)):
        for call in CALLS[driver].split(","):
            for number in range(1, MAX_SWEEP):
                path, lines = start()
                code, err, after_new_log = inject(child, driver, path, lines,
                                                  f"{call}:signal=KILL:when={number}")
                new_logs += after_new_log
                check_store(child, driver, path, lines, f"killed at {call} number {number}")
                if code == 0:
                    break
                if "strace" in err:
                    fail(err)
                crashes += 1
    if crashes < 40:
        fail(f"only {crashes} crashes: the sweep does not reach the writes")
    if driver == "json" and new_logs == 0 and tries > 1:
        return sweep(child, driver, folder, tries - 1)
    if driver == "json" and new_logs == 0:
        fail("no crash between a new log and the sync of its folder")
    say(f"{crashes} crashes, one at every write, sync and rename; nothing acknowledged lost")


def errors(child, driver, folder):
    failures = 0
    new_logs = 0
    for call, number_of_error in (("fdatasync", "EIO"), ("fsync", "EIO"), ("pwrite64", "ENOSPC"),
                                  ("pwrite64", "EIO"), ("rename", "EIO"), ("openat", "EMFILE")):
        if call not in CALLS[driver].split(",") and (driver, call) != ("json", "openat"):
            continue
        # Many: some errors hit the writer while it prepares the log, and no caller gets them.
        for number in range(1, 31):
            path, lines = prepared(child, driver, os.path.join(folder, "errors"))
            what = f"{call}:error={number_of_error}:when={number}"
            code, err, after_new_log = inject(child, driver, path, lines, what)
            new_logs += after_new_log
            with open(lines, encoding="utf-8") as file:
                said = file.read()
            if "cannot open" in said:      # it may refuse to start, but must not lose anything
                said = said[:said.index("cannot open")]
                with open(lines, "w", encoding="utf-8") as file:
                    file.write(said)
            elif not said.endswith("end\n"):
                fail(f"{what}: the child did not go on: exit {code}\n{said}\n{err}")
            failures += said.count("failed ") + said.count("refused ")
            check_store(child, driver, path, lines, what)
    if failures < 10:
        fail(f"only {failures} calls failed: the errors do not reach the store")
    if driver == "json" and new_logs == 0:
        fail("no error between a new log and the sync of its folder")
    say(f"{failures} calls failed and left nothing; the rest is there")


def crash_place(given):
    """Yields the path of the child, the driver, and an empty folder."""
    @contextlib.contextmanager
    def place(one):
        if one.function is not random_kills and shutil.which("strace") is None:
            fail("strace is missing: ./dev setup installs it")
        with tempfile.TemporaryDirectory(prefix="ksana_crash_") as folder:
            yield given.child, given.driver, folder
    return place


if __name__ == "__main__":
    for function, name in ((random_kills, "random"), (sweep, "sweep"), (errors, "errors")):
        add_case(function, name)
    words = arguments("CHILD DRIVER")
    run(words, crash_place(words))
