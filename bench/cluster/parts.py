"""The parts of `./dev bench cluster`. Each adds its rows to a Report."""
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from machine import KSANA, cpu_by_thread, folder, ksana_on, memory, running, wait_for
from queue_client import (LOAD, NO_WORKERS, answer_of, drained, load, postgres_in, server_on,
                          start_load)

COMMAND_LOAD = LOAD.parents[1] / "cluster" / "ksana_command_load"
IDLE_WORKERS = pathlib.Path(__file__).with_name("idle_workers.py")


@contextlib.contextmanager
def servers_on_postgres(count, environment=None):
    """Runs `count` servers on one new database."""
    with folder() as place, postgres_in(place) as url, contextlib.ExitStack() as stack:
        found = []
        for number in range(count):
            own = place / f"node-{number}"
            own.mkdir()
            found.append(stack.enter_context(
                ksana_on(own, url, NO_WORKERS, environment=environment)))
        yield found


def submitted(servers, count, clients):
    """Returns submits a second over all servers, each with its share of the clients."""
    each = clients // len(servers)
    processes = [start_load(server, "submit", count // len(servers), each) for server in servers]
    return sum(answer_of(process)["per_second"] for process in processes)


def servers(report, tasks=100_000, single=40_000, rounds=4):
    """One server and two servers take turns on the same database, so that both see the same
    machine. Tables with history are slower, so each round has a new database, and the order
    changes from round to round."""
    rates = {(what, n): [] for what in ("submit", "drain") for n in (1, 2)}
    for turn in range(rounds):
        with servers_on_postgres(2) as both:
            load(both[0], "submit", 2_000, 16)
            drained(both, 2_000, 2)
            for number in ((1, 2), (2, 1))[turn % 2]:
                used = both[:number]
                rates["submit", number].append(submitted(used, single, 16))
                drained(used, single, 2)
                load(both[0], "bulk", tasks, 5_000)
                rates["drain", number].append(drained(used, tasks, 2))
    for what in ("submit", "drain"):
        one, two = (statistics.mean(rates[what, number]) for number in (1, 2))
        report.add(f"{what}, one server, tasks a second", one, "")
        report.add(f"{what}, two servers, tasks a second", two, "")
        report.add(f"{what}, two servers against one", two / one, "", 0.95, at_least=True)


def claimers(report, tasks=100_000, batch=50):
    with server_on("PostgreSQL") as server:
        load(server, "bulk", tasks, 5_000)
        drained([server], tasks, 1, 8 * batch)      # warm
        load(server, "bulk", tasks, 5_000)
        one = drained([server], tasks, 1, 8 * batch)
        load(server, "bulk", tasks, 5_000)
        eight = drained([server], tasks, 8, batch)
    report.add(f"one claimer, {8 * batch} at a time, tasks a second", one, "")
    report.add(f"eight claimers, {batch} at a time, tasks a second", eight, "")
    report.add("eight against one", eight / one, "", 0.7, at_least=True)


def worker_command(server, name, *words):
    return [KSANA, "worker", "--server", f"http://127.0.0.1:{server.port}", "--name", name,
            *map(str, words)]


def quiet(place):
    return {"env": {"PATH": os.environ["PATH"]}, "cwd": place, "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL}


def failover(report, timeout=5):
    """A worker is killed while it runs tasks; another one has them after its timeout."""
    settings = {"KSANA_WORKER_HEARTBEAT": "1s", "KSANA_WORKER_TIMEOUT": f"{timeout}s"}
    with servers_on_postgres(1, settings) as (server,), folder() as place:
        how, words = quiet(place), ("--handler", "long=/bin/sleep 60", "--slots", 4)
        with running(worker_command(server, "one", *words), **how) as first:
            def run(number):
                answer = server.ask("POST", "/api/v1/runs",
                                    {"type": "long", "payload": {"n": number}, "timeout": "2m"})
                return json.loads(answer)["id"]
            ids = [run(number) for number in range(4)]

            def owners(wanted):
                found = [json.loads(server.ask("GET", f"/api/v1/runs/{one}")) for one in ids]
                return all(one["state"] == "running" and one["owner"].startswith(wanted + "/")
                           for one in found)
            wait_for(lambda: owners("one"), 30, "the first worker has the tasks")
            with running(worker_command(server, "two", *words), **how):
                time.sleep(2 * 1)       # two heartbeats
                first.kill()
                killed = time.monotonic()
                wait_for(lambda: owners("two"), 120, "the second worker has the tasks")
                took = time.monotonic() - killed
    report.add(f"worker killed to its runs started elsewhere, timeout {timeout} s", took, " s",
               timeout + 2)


def idle(report, count=1_000, seconds=30):
    with server_on("PostgreSQL") as server:
        before = memory(server.pid)[1]
        with running([sys.executable, IDLE_WORKERS, str(server.port), str(count)],
                     stdout=subprocess.PIPE, text=True) as process:
            if process.stdout.readline().strip() != "ready":
                raise RuntimeError("the workers could not register")
            time.sleep(5)
            used = sum(cpu_by_thread(server.pid).values())
            began = time.monotonic()
            time.sleep(seconds)
            share = (sum(cpu_by_thread(server.pid).values()) - used) / (time.monotonic() - began)
            grown = (memory(server.pid)[1] - before) * 1024 / count
    report.add(f"{count:,} idle workers, share of a core", 100 * share, " %", 3)
    report.add("memory for each", grown, " KiB", 20)


def worker(report, seconds=20):
    with server_on("SQLite") as server, folder() as place:
        with running(worker_command(server, "idle", "--handler", "never=/bin/true"),
                     **quiet(place)) as process:
            time.sleep(5)
            used = sum(cpu_by_thread(process.pid).values())
            time.sleep(seconds)
            share = (sum(cpu_by_thread(process.pid).values()) - used) / seconds
            rss, pss = memory(process.pid)
    report.add("an idle worker process, RSS", rss, " MiB", 16)
    report.add("an idle worker process, PSS", pss, " MiB")
    report.add("an idle worker process, share of a core", 100 * share, " %")


def commands(report, count=2_000, rounds=3, at_once=4):
    """No-op commands through the executor and a bare loop of posix_spawn take turns."""
    rates = {words: [] for words in (("bare",), ("executor", 1), ("executor", at_once))}
    for _ in range(rounds):
        for words, found in rates.items():
            command = [COMMAND_LOAD, words[0], str(count), *map(str, words[1:])]
            answer = subprocess.run(command, capture_output=True, check=True, text=True).stdout
            found.append(json.loads(answer)["per_second"])
    bare, single, several = (max(found) for found in rates.values())
    report.add("bare posix_spawn and waitpid of /bin/true, a second", bare, "")
    report.add("commands, one at a time, a second", single, "")
    report.add(f"commands, {at_once} at a time, a second", several, "")
    report.add("commands one at a time against the bare loop", single / bare, "")
    report.add(f"commands {at_once} at a time against the bare loop", several / bare, "", 0.7,
               at_least=True)


PARTS = {"servers": (servers, "two servers against one on the same database"),
         "claimers": (claimers, "eight claimers against one with eight times the batch"),
         "failover": (failover, "a worker is killed"),
         "idle": (idle, "1,000 idle workers on one server"),
         "worker": (worker, "an idle worker process"),
         "commands": (commands, "no-op commands against a bare posix_spawn loop")}
