"""The parts of `./dev bench broker`. Each adds its rows to a Report."""
import contextlib
import json
import os
import pathlib
import signal
import statistics
import struct
import subprocess
import tempfile
import time

from machine import (BUILD, ROOT, cpu_by_thread, folder, free_port, ksana_on, nginx, running,
                     wait_for)
from queue_client import LOAD, NO_WORKERS, drained, load
from report import tell_cpu

PROGRAMS = BUILD / "bench" / "bench" / "broker"
START = ROOT / "tests" / "support" / "start_rabbitmq.sh"
CELERY = pathlib.Path(__file__).with_name("celery_tasks.py")
MESSAGE_BYTES = 450     # about that of a small task
FINISHED = 'ksana_runs_finished_total{state="succeeded"}'


@contextlib.contextmanager
def rabbitmq():
    """Runs a broker, and yields its URL. Its files must be readable for another user."""
    with tempfile.TemporaryDirectory(prefix="ksana_bench_") as place:
        os.chmod(place, 0o755)
        done = subprocess.run(["bash", START, f"{place}/broker"], capture_output=True, text=True,
                              check=True)
        try:
            yield done.stdout.split()[0]
        finally:
            subprocess.run(["bash", START, "stop", f"{place}/broker"], check=True)


def bare(url, count):
    command = [PROGRAMS / "ksana_broker_bare", url, str(count), str(MESSAGE_BYTES)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return json.loads(answer.stdout)["per_second"]


@contextlib.contextmanager
def consumers(url, count, how):
    with contextlib.ExitStack() as stack:
        for number in range(count):
            process = stack.enter_context(running(
                [PROGRAMS / "ksana_broker_consumer", url, f"c{number}", how],
                stdout=subprocess.PIPE, text=True))
            if process.stdout.readline().strip() != "ready":
                raise RuntimeError("a consumer did not start")
        yield


def finished(server):
    return server.metrics().get(FINISHED, 0)


def through_broker(report, url, count, how):
    """Returns tasks a second from the first submit until the store has the end of the last one."""
    with folder() as place, ksana_on(place, f"sqlite:{place}/ksana.db", NO_WORKERS,
                                     environment={"KSANA_BROKER": url}) as server:
        load(server, "bulk", 2_000, 1_000)      # the queues are there then
        with consumers(url, 2, how):
            wait_for(lambda: finished(server) >= 2_000, 60, "the first tasks are done", 0.05)
            before = cpu_by_thread(server.pid)
            began = time.monotonic()
            load(server, "bulk", count, 5_000)
            wait_for(lambda: finished(server) >= 2_000 + count, 300, "the tasks are done", 0.05)
            rate = count / (time.monotonic() - began)
        tell_cpu(report, server, before, count, f"{how}: ")
        return rate


def celery_rate(url, place, count, words):
    """Returns tasks a second from the first publication until the last task has run, of a worker
    with this pool that waits for them."""
    times = place / "times"
    times.write_bytes(b"")
    python = "/usr/bin/python3"         # of Debian, which has Celery
    how = {"env": {"PATH": os.environ["PATH"], "BROKER": url, "TIMES": str(times),
                   "HOME": str(place)},
           "cwd": CELERY.parent, "stderr": subprocess.DEVNULL}

    def fill(number):
        before = times.stat().st_size // 8
        done = subprocess.run([python, CELERY, "fill", str(number)], check=True, timeout=300,
                              stdout=subprocess.PIPE, text=True, **how)
        wait_for(lambda: times.stat().st_size // 8 >= before + number, 300, "Celery is done", 0.05)
        return float(done.stdout)

    command = [python, "-m", "celery", "-A", "celery_tasks", "worker", "--without-gossip",
               "--without-mingle", "--without-heartbeat", "-l", "ERROR", *words]
    with running(command, stdout=subprocess.DEVNULL, **how) as worker:
        fill(100)                       # the worker has begun then
        began = fill(count)
        worker.send_signal(signal.SIGQUIT)      # its quick way to stop
        worker.wait(30)
    ended = max(value for value, in struct.iter_unpack("d", times.read_bytes()))
    return count / (ended - began)


def tasks(report, count=60_000, rounds=3):
    """The bare loop and Ksana take turns, so that both see the same machine."""
    bares, lists, singles = [], [], []
    with rabbitmq() as url:
        for _ in range(rounds):
            bares.append(bare(url, count))
            lists.append(through_broker(report, url, count, "list"))
            singles.append(through_broker(report, url, count // 2, "single"))
        with folder() as place:
            celery = {words: celery_rate(url, place, 6_000, words)
                      for words in (("-P", "prefork", "-c", "2"), ("-P", "solo"))}
    floor, listed, single = (statistics.median(found) for found in (bares, lists, singles))
    fastest = max(celery.values())
    report.add("bare publish, confirm, consume, acknowledge, messages a second", floor, "")
    report.add("tasks a second, reports in lists", listed, "")
    report.add("tasks a second, a message for each report", single, "")
    for words, rate in celery.items():
        report.add(f"Celery, {' '.join(words)}, tasks a second", rate, "")
    report.add("reports in lists against the bare loop", listed / floor, "", 0.5, at_least=True)
    report.add("a message for each report against the bare loop", single / floor, "")
    report.add("reports in lists against Celery", listed / fastest, "", 5, at_least=True)


def exporting(port, part):
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": f"{part:.4f}"}


def drain_rate(environment, count):
    """Returns (tasks a second of two agents, spans a second that the receiver took)."""
    with folder() as place, ksana_on(place, f"sqlite:{place}/ksana.db", NO_WORKERS,
                                     environment=environment) as server:
        load(server, "bulk", count, 5_000)
        rate = drained([server], count, 2)

        def spans():
            return server.metrics().get("ksana_trace_spans_exported_total", 0)
        seconds = count / rate
        if environment:
            wait_for(lambda: server.metrics().get("ksana_trace_spans_waiting", 0) == 0, 60,
                     "the spans are sent", 0.05)
        return rate, spans() / seconds


def traces(report, count=150_000, rounds=5, wanted=10_000):
    """Servers with and without an exporter take turns."""
    with folder() as place, nginx(place) as port:
        rate, spans = drain_rate(exporting(port, 0.01), count)
        part = min(1.0, 0.01 * wanted / max(spans, 1))
        without, with_exporter, seen = [], [], []
        for turn in range(rounds):
            for environment in ({}, exporting(port, part))[::1 if turn % 2 else -1]:
                rate, spans = drain_rate(environment, count)
                (with_exporter if environment else without).append(rate)
                if environment:
                    seen.append(spans)
    one, other = statistics.median(with_exporter), statistics.median(without)
    report.add("spans exported a second", statistics.median(seen), "")
    report.add("two agents, no exporter, tasks a second", other, "")
    report.add("two agents, with the exporter, tasks a second", one, "")
    report.add("with the exporter against without", one / other, "", 0.95, at_least=True)


def parents(report, count=40_000, rounds=5):
    """Submits that continue the trace of their submitter, which is the one thing that is stored."""
    rates = {True: [], False: []}
    for turn in range(rounds):
        for traced in (True, False)[::1 if turn % 2 else -1]:
            with folder() as place, ksana_on(place, f"sqlite:{place}/ksana.db",
                                             NO_WORKERS) as server:
                load(server, "submit", 2_000, 16)
                rates[traced].append(
                    load(server, "traced" if traced else "submit", count, 16)["per_second"])
    one, other = statistics.median(rates[True]), statistics.median(rates[False])
    report.add("submits a second", other, "")
    report.add("submits with a traceparent a second", one, "")
    report.add("with a traceparent against without", one / other, "", 0.97, at_least=True)


PARTS = {"tasks": (tasks, "no-op tasks through RabbitMQ against a bare loop and Celery"),
         "traces": (traces, "a drain with an exporter of about 10,000 spans a second"),
         "parents": (parents, "submits that continue a trace")}
