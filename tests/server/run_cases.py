#!/usr/bin/env python3
"""The server in operation: signals, systemd, probes, logs and the plain variables of K-17.

usage: run_cases.py KSANA [CASE…]
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from kit.cases import arguments, case
from kit.checks import Failure, check, equal
from kit.places import run_in_server_places
from kit.postgres import OwnPostgres
from kit.times import after
from kit.waiting import PATIENCE, stays_so, wait_for, wait_until

PROBE = 1    # seconds that a probe may take; twice as many on a busy machine


def once(seconds):
    return {"kind": "once", "run_at": after(seconds)}


def every(duration):
    return {"kind": "every", "every": duration}


# ---- stopping

@case
def signals_end_it(place):
    for number in (signal.SIGTERM, signal.SIGINT):
        server = place.server().start()
        server.create(id="j", schedule=every("100ms"), http={"url": place.target.url + "/ok"})
        place.target.await_calls("/ok")
        server.process.send_signal(number)
        equal(server.process.wait(PATIENCE), 0, f"exit code after {number}")
        server.await_line("ksana has stopped")


@case
def a_second_signal_ends_it_at_once(place):
    for number in (signal.SIGINT, signal.SIGTERM):
        server = place.server({"KSANA_SHUTDOWN_TIMEOUT": "1h"}).start()
        path = f"/hang/{number}"
        server.create(id="j", schedule=once(0), timeout="1h", max_retries=0,
                      http={"url": place.target.url + path})
        place.target.await_calls(path)
        server.process.send_signal(number)
        server.await_line("ksana is stopping")
        try:
            server.process.wait(0.3)
            raise Failure("it did not wait for the call")
        except subprocess.TimeoutExpired:
            pass
        server.process.send_signal(number)
        equal(server.process.wait(5), -number, "exit code")
        # The next start takes back the run that was in flight.
        place.target.released.set()
        server.environment["KSANA_SHUTDOWN_TIMEOUT"] = "5s"
        server.start()
        server.await_job("j", lambda job: job["last_status"], "over")
        equal(server.stop(), 0, "exit code")
        place.target.released.clear()


@case
def readiness_ends_before_the_server(place):
    """A stopping server is no longer ready, so that load balancers use other servers."""
    server = place.server({"KSANA_SHUTDOWN_TIMEOUT": "20s"}).start()
    server.create(id="j", schedule=once(0), timeout="20s",
                  http={"url": place.target.url + "/hang/ready"})
    place.target.await_calls("/hang/ready")
    server.process.send_signal(signal.SIGTERM)
    server.await_line("ksana is stopping")

    def is_not_ready():
        try:
            return server.request("GET", "/readyz")[0] == 503
        except (OSError, http.client.HTTPException):
            return True

    wait_until(is_not_ready, "the server to be not ready")
    place.target.released.set()
    equal(server.process.wait(PATIENCE), 0, "exit code")


@case
def systemd_is_told(place):
    for name in (str(place.folder / "notify"), f"@ksana-{os.getpid()}-{time.time_ns()}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
            told.bind("\0" + name[1:] if name[0] == "@" else name)
            told.settimeout(PATIENCE)
            server = place.server({"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "600000"}).start()
            equal(told.recv(4096), b"READY=1", "first")
            before = time.monotonic()
            for _ in range(3):
                equal(told.recv(4096), b"WATCHDOG=1", "then")
            took = time.monotonic() - before
            check(took < 3 * 0.6, f"three signs of life took {took:.2f} s")
            server.process.send_signal(signal.SIGTERM)
            while (notice := told.recv(4096)) == b"WATCHDOG=1":
                pass
            equal(notice, b"STOPPING=1", "at the end")
            equal(server.process.wait(PATIENCE), 0, "exit code")


@case(first=True)
def readiness_follows_the_database(place):
    with OwnPostgres() as database:
        server = place.server(store=database.url).start()
        path = "/ok/database"
        server.create(id="j", schedule=every("200ms"), http={"url": place.target.url + path})
        place.target.await_calls(path)

        def await_ready(status):
            return wait_for(lambda: server.request("GET", "/readyz?verbose"),
                            lambda got: got[0] == status, f"readiness {status}", pause=0.05)[2]

        await_ready(200)
        database.stop()
        # A request that needs the database waits for it for a while.
        with ThreadPoolExecutor(2) as pool:
            ready = pool.submit(await_ready, 503)
            jobs = pool.submit(server.request, "GET", "/jobs")
            equal(server.request("GET", "/livez")[0], 200, "alive")
            equal(server.request("GET", "/health")[0], 200, "health")
            check("[-] store failed" in ready.result(), "what is wrong is not said")
            equal(jobs.result()[0], 503, "a request that needs it")
        database.start()
        await_ready(200)
        calls = len(place.target.of(path))
        place.target.await_calls(path, calls + 3)
        equal(server.stop(), 0, "exit code")


@case
def readiness_is_told_in_time_while_the_database_hangs(place):
    with OwnPostgres() as database:
        server = place.server({"KSANA_REQUEST_THREADS": "2"}, store=database.url).start()
        equal(server.request("GET", "/readyz")[0], 200, "before")
        frozen = database.freeze()
        try:
            with ThreadPoolExecutor(4) as pool:
                # All threads of the pool wait for the store; a probe does not wait for them.
                waiting = [pool.submit(server.request, "GET", "/jobs") for _ in range(4)]
                for number in range(3):
                    start = time.monotonic()
                    status, _, body = server.request("GET", "/readyz?verbose")
                    took = time.monotonic() - start
                    equal(status, 503, f"probe {number}")
                    check("[-] store failed: no answer for" in body, f"it says {body}")
                    check(took < 2 * PROBE, f"a probe took {took:.2f} s")
                    equal(server.request("GET", "/livez")[0], 200, "alive")
                database.thaw(frozen)
                frozen = []
                for request in waiting:
                    request.result()
        finally:
            database.thaw(frozen)
        wait_until(lambda: server.request("GET", "/readyz")[0] == 200, "the server to be ready",
                   pause=0.05)


# ---- settings and logs

@case
def logs_are_json_where_asked(place):
    server = place.server({"KSANA_LOG_FORMAT": "json", "KSANA_LOG_FILE": "log.json"})
    path = os.path.join(server.folder, "log.json")
    process = subprocess.Popen([place.binary, "server"], cwd=server.folder, env=server.environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    server.process = process

    def lines():
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def await_message(text):
        return wait_until(lambda: [line for line in lines() if text in json.dumps(line)],
                          f"a line of the log that says {text}")[-1]

    server.port = int(await_message("ksana is ready")["url"].rpartition(":")[2])
    server.create(id="j", name='a "name" \\ {{}}', schedule=once(0), max_retries=0,
                  http={"url": place.target.url + "/status/404"})
    line = await_message("attempt ended")
    equal((line["job_id"], line["name"], line["attempt"]), ("j", 'a "name" \\ {{}}', 1), "line")
    process.send_signal(signal.SIGTERM)
    equal(process.wait(PATIENCE), 0, "exit code")
    equal(process.stderr.read(), "", "standard error")
    process.stderr.close()
    await_message("ksana has stopped")


@case
def the_store_by_one_word(place):
    """K-17: KSANA_STORE=json alone"""
    server = place.server(store="json")
    del server.environment["DATA_DIR"]
    server.start()
    server.create(id="j", schedule=every("1h"), http={"url": place.target.url + "/ok"})
    equal(server.stop(), 0, "exit code")
    with open(os.path.join(server.folder, "data", "jobs.json"), encoding="utf-8") as file:
        equal([job["id"] for job in json.load(file)["jobs"]], ["j"], "jobs")
    server = place.server()
    del server.environment["DATA_DIR"], server.environment["KSANA_STORE"]
    server.start()
    equal(server.stop(), 0, "exit code")
    check(os.path.exists(os.path.join(server.folder, "data", "ksana.db")), "the default")


@case
def plain_variables_are_obeyed(place):
    """K-17"""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    data = place.folder / "elsewhere"
    server = place.server({"PORT": str(port), "DATA_DIR": str(data), "WORKERS": "2",
                           "DEFAULT_TIMEOUT": "1234ms", "MAX_RETRIES": "7",
                           "RETRY_BACKOFF": "77ms", "LOG_LEVEL": "info"}).start()
    equal(server.port, port, "PORT")
    check((data / "ksana.db").exists(), "DATA_DIR")
    job = server.create(id="j", schedule=every("1h"), http={"url": place.target.url + "/ok"})
    equal((job["timeout"], job["max_retries"], job["retry_backoff"]), ("1.234s", 7, "77ms"),
          "defaults")
    check("workers=2" in server.log(), "WORKERS")
    equal(server.stop(), 0, "exit code")
    quiet = place.server({"LOG_LEVEL": "error", "KSANA_DATA": str(place.folder / "third"),
                          "PORT": str(port)})
    del quiet.environment["DATA_DIR"]
    quiet.process = subprocess.Popen([place.binary, "server"], cwd=quiet.folder,
                                     env=quiet.environment, stderr=subprocess.PIPE, text=True)
    quiet.port = port
    equal(wait_until(lambda: quiet.request("GET", "/health"), "an answer of the server",
                     ignoring=OSError)[0], 200, "health")
    quiet.process.send_signal(signal.SIGTERM)
    equal(quiet.process.communicate(timeout=PATIENCE)[1], "", "LOG_LEVEL=error")
    equal(quiet.process.returncode, 0, "exit code")
    check((place.folder / "third" / "ksana.db").exists(), "KSANA_DATA")


@case
def commands_open_the_store_of_the_server(place):
    for store in ("sqlite", "json"):
        server = place.server({"KSANA_DATA_DIR": "here"}, store=store).start()
        server.create(id="j", schedule=every("1h"), http={"url": place.target.url + "/ok"})
        equal(server.stop(), 0, "exit code")
        for words in ([], ["--store", store]):
            done = subprocess.run([place.binary, "export", *words], cwd=server.folder,
                                  env=server.environment, capture_output=True, text=True,
                                  check=False)
            equal(done.returncode, 0, done.stderr)
            check('{"job":{"id":"j"' in done.stdout, f"{store} {words}: {done.stdout}")


@case
def workers_bound_the_calls_at_once(place):
    server = place.server({"WORKERS": "2"}).start()
    for number in range(8):
        server.create(id=f"w{number}", schedule=once(0), timeout="20s",
                      http={"url": f"{place.target.url}/hang/w{number}"})
    wait_until(lambda: len(place.target.calls) >= 2, "two calls")
    stays_so(lambda: len(place.target.calls) == 2, "only two calls at once", during=0.5)
    place.target.released.set()
    for number in range(8):
        server.await_status(f"w{number}", "success")
    equal(len(place.target.calls), 8, "calls in all")
    equal(server.stop(), 0, "exit code")


@case
def deleting_a_job_cancels_what_waits(place):
    server = place.server({"WORKERS": "1"}).start()
    server.create(id="first", schedule=once(0), timeout="20s",
                  http={"url": place.target.url + "/hang/first"})
    place.target.await_calls("/hang/first")
    server.create(id="waits", schedule=every("1h"), http={"url": place.target.url + "/ok/waits"})
    server.call("POST", "/jobs/waits/run-now", expect=202)
    server.call("POST", "/jobs/waits/run-now", expect=202)
    equal(server.request("DELETE", "/jobs/waits")[0], 204, "DELETE")
    # The run in flight may end: the server accepts its answer.
    equal(server.request("DELETE", "/jobs/first")[0], 204, "DELETE")
    place.target.released.set()
    server.create(id="after", schedule=once(0), http={"url": place.target.url + "/ok/after"})
    server.await_status("after", "success")
    equal(place.target.of("/ok/waits"), [], "calls of a job that is gone")
    equal(server.stop(), 0, "exit code")
    done = subprocess.run([place.binary, "export", "--store",
                           f"sqlite:{server.folder}/data/ksana.db"],
                          capture_output=True, text=True, check=True)
    states = {}
    for line in done.stdout.splitlines():
        run = json.loads(line).get("run")
        if run:
            states.setdefault(run["job_id"], []).append(run["status"]["state"])
    equal(states.get("waits", []), ["cancelled", "cancelled"], "runs of the deleted job")
    equal(states.get("first"), ["succeeded"], "the run that was under way")


if __name__ == "__main__":
    run_in_server_places(arguments("KSANA"))
