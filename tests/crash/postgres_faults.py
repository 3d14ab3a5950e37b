#!/usr/bin/env python3
"""Faults of PostgreSQL while four processes with several threads each work on it.

usage: postgres_faults.py CHILD [CASE…]

All connections are terminated; the server is restarted, crashed, and stopped for 20 s. The
processes recover without help; no acknowledged change is lost, and no run is started twice under
one fence.
"""
import contextlib
import os
import subprocess
import tempfile

from kit.cases import arguments, case, run, say
from kit.checks import check, fail
from kit.postgres import OwnPostgres, psql
from kit.waiting import let_pass, wait_until

PROCESSES = 4
STOPPED_SECONDS = 20
CALM_SECONDS = 1.5      # of work between two faults


def count_lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().count("\n")


def await_progress(what, paths, children):
    """Waits until every process acknowledges new changes, so that it has recovered."""
    before = [count_lines(path) for path in paths]

    def all_go_on():
        for child in children:
            check(child.poll() is None, f"{what}: a process ended: {child.returncode}")
        return all(count_lines(path) > had + 5 for path, had in zip(paths, before))

    wait_until(all_go_on, f"progress of every process ({what})", within=60, pause=0.05)


def check_store(child, url, paths):
    lines = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines += file.readlines()
    started = [line for line in lines if line.startswith("started ")]
    if len(started) != len(set(started)):
        fail("a run was started twice under one fence")
    merged = paths[0] + ".all"
    with open(merged, "w", encoding="utf-8") as file:
        file.writelines(lines)
    done = subprocess.run([child, "postgres", url, "check", merged], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"exit {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
    return len(lines), sum(line.startswith(("failed", "refused")) for line in lines)


def terminate_connections(server):
    psql(server.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
         "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")


def stop_for_a_while(server):
    frozen = server.freeze()
    let_pass(STOPPED_SECONDS, "the server gives no answer for longer than its clients wait")
    server.thaw(frozen)


FAULTS = {"connections terminated": terminate_connections,
          "restart": lambda server: server.control("-m", "fast", "restart"),
          "crash": lambda server: server.control("-m", "immediate", "restart"),
          "stopped": stop_for_a_while}


@case
def acknowledged_changes_survive_faults_of_postgresql(server, child, paths, children):
    for path in paths:
        with open(path, "wb") as lines:
            children.append(subprocess.Popen(
                [child, "postgres", server.url, "work", "4", "100000000"], stdout=lines,
                stderr=subprocess.DEVNULL))
    await_progress("start", paths, children)
    for what, fault in FAULTS.items():
        let_pass(CALM_SECONDS, "the processes work for a while between two faults")
        fault(server)
        await_progress(what, paths, children)
        say(f"{what}: all {PROCESSES} processes went on")
    end(children)
    lines, refused = check_store(child, server.url, paths)
    say(f"{lines} changes acknowledged by {PROCESSES} processes, {refused} refused meanwhile; none "
        f"lost, none double")


def end(children):
    for process in children:
        process.kill()
        process.wait()


@contextlib.contextmanager
def faults_place(child):
    children = []
    with tempfile.TemporaryDirectory(prefix="ksana_faults_") as folder, OwnPostgres() as server:
        try:
            yield server, child, [os.path.join(folder, f"lines{n}") for n in range(PROCESSES)], \
                children
        finally:
            end(children)


if __name__ == "__main__":
    words = arguments("CHILD")
    run(words, lambda _: faults_place(words.child))
