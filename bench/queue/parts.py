"""The parts of `./dev bench queue`. Each adds its rows to a Report."""
import json
import subprocess

import peers
from machine import BUILD, cpu_by_thread, folder
from queue_client import answer_of, drained, load, server_on, start_load
from report import tell_cpu

PROGRAMS = BUILD / "bench" / "bench"
HANDLERS = PROGRAMS / "queue" / "ksana_handler_load"
BARE = PROGRAMS / "stores" / "ksana_bare_bench"


def rival(report, name, rows, metric="jobs_per_s"):
    """Adds the result of a rival and returns it. Returns None, with a row that says why, if it
    was not measured."""
    if isinstance(rows, str):
        report.row(name, f"not measured: {rows}")
        return None
    value = next(row["value"] for row in rows if row["metric"] == metric)
    report.add(name, value, " ms" if metric.startswith("latency") else "")
    return value


def rivals(report, measured):
    """Measures rivals, given as [(key, name, function that makes the server, peer, workload,
    words)]. Returns {key: value}."""
    with peers.ready() as servers:
        if isinstance(servers, str):
            report.row("rivals", f"not measured: {servers}")
            return {}
        found = {}
        for key, name, server, peer, workload, words in measured:
            metric = "latency_p50" if workload == "latency" else "jobs_per_s"
            rows = peers.drive(server(servers), peer, workload, **words)
            found[key] = rival(report, name, rows, metric)
        return found


def redis(servers):
    return servers.Redis("always")


def postgres(servers):
    return servers.Postgres()


def compare(report, what, own, theirs, goal):
    if theirs:
        report.add(what, own / theirs, "", goal, at_least=True)


def submit(report):
    own = {}
    for store, clients, count in (("SQLite", 16, 60_000), ("SQLite", 64, 90_000),
                                  ("PostgreSQL", 16, 40_000)):
        with server_on(store) as server:
            load(server, "submit", 2_000, clients)
            before = cpu_by_thread(server.pid)
            rate = load(server, "submit", count, clients)["per_second"]
            own[store, clients] = rate
            goal = 30_000 if clients == 64 else None
            report.add(f"{store}, {clients} clients, submits a second", rate, "", goal,
                       at_least=True)
            tell_cpu(report, server, before, count, f"{store}, {clients} clients: ")
    found = rivals(report, (
        ("bullmq", "BullMQ, Redis appendfsync always, 16 in flight", redis, "bullmq/tuned",
         "enqueue", {"c": 16, "n": 20_000}),
        ("pg-boss", "pg-boss, 16 in flight", postgres, "pg-boss/tuned", "enqueue",
         {"c": 16, "n": 6_000})))
    compare(report, "SQLite, 16 clients, against BullMQ", own["SQLite", 16], found.get("bullmq"),
            1.6)
    compare(report, "PostgreSQL, 16 clients, against pg-boss", own["PostgreSQL", 16],
            found.get("pg-boss"), 10)


def bulk(report):
    own = {}
    for store in ("SQLite", "PostgreSQL"):
        with server_on(store) as server:
            load(server, "bulk", 5_000, 1_000)
            before = cpu_by_thread(server.pid)
            own[store] = load(server, "bulk", 200_000, 1_000)["per_second"]
            report.add(f"{store}, 1,000 a call, tasks a second", own[store], "")
            tell_cpu(report, server, before, 200_000, f"{store}: ")
    found = rivals(report, (("pg-boss", "pg-boss, 1,000 a call", postgres, "pg-boss/tuned", "bulk",
                             {"n": 20_000}),))
    for store, rate in own.items():
        compare(report, f"{store} against pg-boss", rate, found.get("pg-boss"), 3)


def drain(report, tasks=200_000):
    own = {}
    for store in ("SQLite", "PostgreSQL"):
        with server_on(store) as server:
            load(server, "bulk", tasks, 5_000)
            before = cpu_by_thread(server.pid)
            own[store] = drained([server], tasks, 2)
            report.add(f"{store}, two agents over HTTP, tasks a second", own[store], "")
            tell_cpu(report, server, before, tasks, f"{store}: ")
    found = rivals(report, (
        ("graphile", "graphile-worker, two processes", postgres, "graphile-worker/tuned", "drain",
         {"n": 50_000, "procs": 2}),))
    compare(report, "SQLite against graphile-worker", own["SQLite"], found.get("graphile"), 1.5)
    compare(report, "PostgreSQL against graphile-worker", own["PostgreSQL"], found.get("graphile"),
            2)


def said(*command):
    """Runs a program and returns its JSON lines."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0].name}: {done.stderr.strip()[-400:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def in_process(*words):
    """Runs the program that embeds the engine, with SQLite in a new folder."""
    with folder() as place:
        return said(HANDLERS, place / "store", *words)[0]


def handlers(report, tasks=200_000):
    """Measures the bare limit before and after, as the speed of the machine may change."""
    def bare():
        with folder() as place:
            return next(row["value"] for row in said(BARE, "sqlite", place / "store")
                        if row["what"] == "drain")
    limits = [bare()]
    rate = in_process("drain", tasks)["per_second"]
    limits.append(bare())
    limit = sum(limits) / 2
    report.add("SQLite, handlers in the process, tasks a second", rate, "")
    report.add("bare SQLite, claim and delete, 100 at a time, tasks a second", limit, "")
    report.add("against the bare limit", rate / limit, "", 0.6, at_least=True)


def waited(server, rate, seconds):
    """Measures how long tasks take to reach a waiting agent. Agent and producer are two
    processes."""
    agent = start_load(server, "wait", rate * seconds, 10)
    load(server, "produce", rate, seconds)
    return answer_of(agent)


def latency(report):
    in_process("latency", 200, 2)
    found = in_process("latency", 200, 10)
    report.add("SQLite, handler in the process, submit to start, p50", found["p50_ms"], " ms", 0.5)
    report.add("SQLite, handler in the process, submit to start, p99", found["p99_ms"], " ms", 2)
    report.add("SQLite, handler in the process, submit to start, max", found["max_ms"], " ms")
    for store, p50, p99 in (("SQLite", 0.65, 3), ("PostgreSQL", 1.5, None)):
        with server_on(store) as server:
            waited(server, 200, 2)
            found = waited(server, 200, 10)
            report.add(f"{store}, submit to start, p50", found["p50_ms"], " ms", p50)
            report.add(f"{store}, submit to start, p99", found["p99_ms"], " ms", p99)
            report.add(f"{store}, submit to start, max", found["max_ms"], " ms")
    rivals(report, (
        ("bullmq", "BullMQ, appendfsync always, p50", redis, "bullmq/tuned", "latency",
         {"secs": 10}),
        ("graphile", "graphile-worker, p50", postgres, "graphile-worker/tuned", "latency",
         {"secs": 10})))


def depth(report, few=10_000, many=1_000_000, sample=10_000):
    """Compares the cost of a task (CPU of the server, submit and drain) when few and when many
    wait."""
    costs = {}
    for waiting in (few, many):
        with server_on("SQLite") as server:
            load(server, "bulk", waiting, 5_000)
            before = cpu_by_thread(server.pid)
            load(server, "submit", sample, 16)
            drained([server], sample, 1, 100)
            used = sum((cpu_by_thread(server.pid) - before).values())
            costs[waiting] = used / sample * 1e6
            report.add(f"CPU of the server for one task, {waiting:,} waiting", costs[waiting],
                       " µs")
    report.add("ratio", costs[many] / costs[few], "", 1.5)


PARTS = {"submit": (submit, "single submits over HTTP, each awaited"),
         "bulk": (bulk, "submits of 1,000 tasks a call, over one connection"),
         "drain": (drain, "200,000 waiting no-op tasks, two agent processes over HTTP"),
         "handlers": (handlers, "200,000 waiting no-op tasks, handlers in the process"),
         "latency": (latency, "from the call to the start, 200 tasks a second, a handler in the "
                              "process and a waiting agent"),
         "depth": (depth, "what a task costs with 10,000 and with 1,000,000 others waiting")}
