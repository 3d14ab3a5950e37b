#!/usr/bin/env python3
"""The server as operators run it: refused configurations, TLS, tokens, signals, systemd, probes,
logs and the plain variables of K-17, seen from outside.

usage: run_cases.py KSANA [CASE…]

What needs a PostgreSQL of its own, which it stops, is passed over where KSANA_TEST_POSTGRES is not
set (it is under ./dev test).
"""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from ksana_server import (PATIENCE, Failure, Server, Target, after, check, equal)

PARALLEL = 3
START_POSTGRES = pathlib.Path(__file__).parent.parent / "support" / "start_postgres.sh"
# As base/error.hpp has them.
INVALID, CONFLICT, UNAVAILABLE, TOO_LATE = 2, 5, 6, 124
TOKEN = "0123456789abcdef0123456789abcdef"

CASES = []


def case(function):
    CASES.append(function)
    return function


class Place:
    """A folder for a case, with a target; the servers started here end with it."""

    def __init__(self, binary):
        self.binary, self.servers = binary, []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ksana_run_"))
        self.target = Target()

    def server(self, environment=None, flags=(), store="sqlite"):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="server_", dir=self.folder))
        folder.chmod(0o755)
        server = Server(self.binary, store, folder=str(folder), environment=environment,
                        flags=flags)
        self.servers.append(server)
        return server

    def refusal(self, environment=None, flags=(), store="sqlite", patience=PATIENCE, wrapper=()):
        """Exit code and message of a server that must not start."""
        server = self.server(environment, flags, store)
        try:
            done = subprocess.run([*wrapper, self.binary, "server", *flags], cwd=server.folder,
                                  env=server.environment, capture_output=True, text=True,
                                  timeout=patience, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"{environment} {flags}: it has started") from None
        check("is ready" not in done.stderr, f"it was ready: {done.stderr}")
        return done.returncode, done.stderr

    def file(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return str(path)

    def close(self):
        self.target.close()
        for server in self.servers:
            server.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def check_refusal(got, code, *parts):
    equal(got[0], code, f"exit code of: {got[1]}")
    for part in parts:
        check(part in got[1], f"{part!r} is not in: {got[1]}")


def once(seconds):
    return {"kind": "once", "run_at": after(seconds)}


def every(duration):
    return {"kind": "every", "every": duration}


def await_line(server, part, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while True:
        for line in list(server.lines):
            if part in line:
                return line
        check(time.monotonic() < deadline, f"the log does not say {part!r}")
        time.sleep(0.01)


# ---- refused

@case
def a_bad_configuration_is_refused(place):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        check_refusal(place.refusal({"PORT": port}), UNAVAILABLE, port, "in use")
    check_refusal(place.refusal({"KSANA_API_TOKEN_FILE": "/no/such/file"}), INVALID,
                  "api_token_file", "/no/such/file")
    short = place.file("short", "secret\n")
    got = place.refusal({"KSANA_API_TOKEN_FILE": short})
    check_refusal(got, INVALID, "api_token_file", short, "16")
    check("secret" not in got[1], "the token is shown")
    folder = str(place.folder)
    check_refusal(place.refusal({"KSANA_API_TOKEN_FILE": folder}), INVALID, folder)
    check_refusal(place.refusal({"KSANA_ADDRESS": "0.0.0.0"}), INVALID, "api_token_file")
    check_refusal(place.refusal({"KSANA_WOKERS": "1"}), INVALID, "KSANA_WORKERS")
    check_refusal(place.refusal({"WORKERS": "many"}), INVALID, "WORKERS")
    check_refusal(place.refusal({"WORKERS": "0", "PORT": "70000"}), INVALID, "WORKERS", "PORT")
    check_refusal(place.refusal({"KSANA_TLS_KEY": short}), INVALID, "tls_certificate")
    check_refusal(place.refusal({"KSANA_TLS_KEY": short, "KSANA_TLS_CERTIFICATE": short}), INVALID,
                  short)
    check_refusal(place.refusal({"KSANA_EGRESS_ALLOW": "10.0.0.0/99"}), INVALID, "EGRESS_ALLOW")
    check_refusal(place.refusal({"KSANA_LOG_FILE": short + "/log"}), INVALID, short)
    check_refusal(place.refusal(flags=["--config", "/no/such.toml"]), INVALID, "/no/such.toml")


@case
def a_data_folder_that_cannot_be_used_is_refused(place):
    file = place.file("data", "not a folder")
    for store in ("sqlite", "json"):
        code, text = place.refusal({"DATA_DIR": file}, store=store)
        check(code != 0 and file in text, f"{store}: {code} {text}")
    locked = place.folder / "locked"
    locked.mkdir(mode=0o555)
    as_nobody = []
    if os.getuid() == 0:        # root writes everywhere
        place.folder.chmod(0o755)
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for store in ("sqlite", "json"):
        # The folder that the server is started in must be readable to nobody, too.
        code, text = place.refusal({"DATA_DIR": str(locked)}, store=store, wrapper=as_nobody)
        check(code != 0 and str(locked) in text, f"{store}: {code} {text}")
    equal(list(locked.iterdir()), [], "files")


@case
def a_store_of_another_server_is_refused(place):
    for store in ("sqlite", "json"):
        first = place.server(store=store).start()
        check_refusal(place.refusal({"DATA_DIR": first.environment["DATA_DIR"]}, store=store),
                      UNAVAILABLE, first.environment["DATA_DIR"])
        equal(first.request("GET", "/readyz")[0], 200, "the first one")
        first.kill()        # and the lock goes with the process
        second = place.server({"DATA_DIR": first.environment["DATA_DIR"]}, store=store).start()
        equal(second.stop(), 0, "exit code")


@case
def an_unreachable_postgres_is_refused_soon(place):
    """Within the ten seconds that a database gets to come up."""
    def refuse(port):
        start = time.monotonic()
        got = place.refusal(store=f"postgresql://ksana:s3cret@127.0.0.1:{port}/k")
        check("s3cret" not in got[1], "the password is shown")
        took = time.monotonic() - start
        check(took < 18, f"it took {took:.1f} s")
        return got

    with socket.create_server(("127.0.0.1", 0)) as closed:
        refusing = closed.getsockname()[1]
    with (socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(2) as pool):
        ports = refusing, silent.getsockname()[1]       # the second accepts, and says nothing
        first, second = pool.map(refuse, ports)
    check_refusal(first, UNAVAILABLE, "PostgreSQL", str(refusing), "refused")
    check_refusal(second, TOO_LATE, "PostgreSQL", "in time")


@case
def a_newer_schema_is_refused_and_left_alone(place):
    server = place.server().start()
    server.stop()
    path = os.path.join(server.folder, "data", "ksana.db")
    database = sqlite3.connect(path)
    database.execute("INSERT INTO ksana_schema VALUES (99, 'later', 0)")
    database.commit()
    database.close()
    check_refusal(place.refusal({"DATA_DIR": server.environment["DATA_DIR"]}), CONFLICT, "99")


# ---- who may ask

@case
def tls_is_spoken_when_configured(place):
    key, certificate = str(place.folder / "key.pem"), str(place.folder / "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    server = place.server({"KSANA_TLS_CERTIFICATE": certificate, "KSANA_TLS_KEY": key}).start()
    context = ssl.create_default_context(cafile=certificate)
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context,
                                             timeout=PATIENCE)
    connection.request("GET", "/health")
    equal(connection.getresponse().status, 200, "HTTPS")
    connection.close()
    try:
        status = server.request("GET", "/health")[0]
        raise Failure(f"HTTP is answered with {status}")
    except (http.client.HTTPException, OSError):
        pass
    old = ssl.create_default_context(cafile=certificate)
    old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with warnings.catch_warnings(action="ignore"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    try:
        old.wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE),
                        server_hostname="127.0.0.1")
        raise Failure("TLS 1.1 is spoken")
    except (ssl.SSLError, OSError):
        pass
    equal(server.stop(), 0, "exit code")


@case
def a_token_is_asked_for(place):
    token_file = place.file("token", TOKEN + "\n")
    server = place.server({"KSANA_API_TOKEN_FILE": token_file, "KSANA_ADDRESS": "0.0.0.0"})
    server.start()

    def status(method, path, authorization=None, body=None):
        headers = {} if authorization is None else {"Authorization": authorization}
        return server.request(method, path, body, headers)[0]

    for path in ("/health", "/livez", "/readyz"):
        equal(status("GET", path), 200, path)
    for method, path in (("GET", "/jobs"), ("GET", "/jobs/x"), ("POST", "/jobs"),
                         ("DELETE", "/jobs/x"), ("PATCH", "/jobs/x"), ("GET", "/metrics"),
                         ("POST", "/jobs/x/run-now"), ("POST", "/jobs/x/pause")):
        for wrong in (None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}",
                      f"Basic {TOKEN}", TOKEN, "Bearer " + TOKEN.upper()):
            equal(status(method, path, wrong), 401, f"{method} {path} with {wrong}")
    _, headers, _ = server.request("GET", "/jobs")
    check("Bearer" in headers.get("WWW-Authenticate", ""), headers)
    for right in (f"Bearer {TOKEN}", f"bearer {TOKEN}"):
        equal(status("GET", "/jobs", right), 200, right)
        equal(status("GET", "/metrics", right), 200, right)
    check(TOKEN not in "".join(server.lines), "the token is in the log")
    equal(server.stop(), 0, "exit code")


@case
def pages_of_other_sites_change_nothing(place):
    server = place.server().start()
    job = {"id": "j", "name": "n", "type": "http", "schedule": every("1h"),
           "http": {"method": "GET", "url": place.target.url + "/ok"}}
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{server.port + 1}"):
        headers = {"Origin": origin}
        equal(server.request("POST", "/jobs", job, headers)[0], 403, origin)
        equal(server.request("GET", "/jobs", None, headers)[0], 200, f"reading from {origin}")
        for method, path in (("DELETE", "/jobs/j"), ("PATCH", "/jobs/j"),
                             ("POST", "/jobs/j/run-now"), ("POST", "/jobs/j/pause")):
            equal(server.request(method, path, None, headers)[0], 403, f"{method} {path}")
    equal(server.call("GET", "/jobs"), [], "jobs")
    equal(server.request("POST", "/jobs", job, {"Origin": server.url})[0], 201, "our own")
    # No answer invites a browser to show it to another site.
    _, headers, _ = server.request("GET", "/jobs", None, {"Origin": "https://evil.example"})
    check(not any(name.lower().startswith("access-control") for name in headers), headers)
    equal(server.stop(), 0, "exit code")


# ---- its end

@case
def signals_end_it(place):
    for number in (signal.SIGTERM, signal.SIGINT):
        server = place.server().start()
        server.create(id="j", schedule=every("100ms"), http={"url": place.target.url + "/ok"})
        place.target.await_calls("/ok")
        server.process.send_signal(number)
        equal(server.process.wait(PATIENCE), 0, f"exit code after {number}")
        check("ksana has stopped" in server.log(), "the log says nothing")


@case
def a_second_signal_ends_it_at_once(place):
    for number in (signal.SIGINT, signal.SIGTERM):
        server = place.server({"KSANA_SHUTDOWN_TIMEOUT": "1h"}).start()
        path = f"/hang/{number}"
        server.create(id="j", schedule=once(0), timeout="1h", max_retries=0,
                      http={"url": place.target.url + path})
        place.target.await_calls(path)
        server.process.send_signal(number)
        await_line(server, "ksana is stopping")
        try:
            server.process.wait(0.3)
            raise Failure("it did not wait for the call")
        except subprocess.TimeoutExpired:
            pass
        server.process.send_signal(number)
        equal(server.process.wait(5), -number, "exit code")
        # What was under way is taken back at the next start.
        place.target.released.set()
        server.environment["KSANA_SHUTDOWN_TIMEOUT"] = "5s"
        server.start()
        server.await_job("j", lambda job: job["last_status"], "over")
        equal(server.stop(), 0, "exit code")
        place.target.released.clear()


@case
def readiness_ends_before_the_server(place):
    """A stop takes no more requests, so that balancers go elsewhere."""
    server = place.server({"KSANA_SHUTDOWN_TIMEOUT": "20s"}).start()
    server.create(id="j", schedule=once(0), timeout="20s",
                  http={"url": place.target.url + "/hang/ready"})
    place.target.await_calls("/hang/ready")
    server.process.send_signal(signal.SIGTERM)
    await_line(server, "ksana is stopping")
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if server.request("GET", "/readyz")[0] == 503:
                break
        except (OSError, http.client.HTTPException):
            break
        check(time.monotonic() < deadline, "it is still ready")
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


@contextmanager
def own_postgres():
    """A PostgreSQL that a case may stop: its URL and a function that stops or starts it."""
    folder = tempfile.mkdtemp(prefix="ksana_pg_")
    pathlib.Path(folder).chmod(0o755)
    started = subprocess.run([str(START_POSTGRES), folder], capture_output=True, text=True,
                             check=True)
    url = started.stdout.strip()
    port = url.rpartition(":")[2].partition("/")[0]
    tool = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))[-1]
    become = []
    if os.getuid() == 0:
        become = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]

    def control(*words):
        subprocess.run([*become, str(tool), "-D", f"{folder}/data", "-w", "-l",
                        f"{folder}/server.log", *words], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def switch(on):
        if on:
            control("-o", f"-p {port} -k {folder} -h 127.0.0.1", "start")
        else:
            control("-m", "fast", "stop")

    try:
        yield url, switch
    finally:
        subprocess.run([str(START_POSTGRES), "stop", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


@case
def readiness_follows_the_database(place):
    if not os.environ.get("KSANA_TEST_POSTGRES"):
        print("readiness_follows_the_database: passed over, KSANA_TEST_POSTGRES is not set")
        return
    with own_postgres() as (url, switch):
        server = place.server(store=url).start()
        path = "/ok/database"
        server.create(id="j", schedule=every("200ms"), http={"url": place.target.url + path})
        place.target.await_calls(path)

        def await_ready(status):
            deadline = time.monotonic() + PATIENCE
            while (got := server.request("GET", "/readyz?verbose"))[0] != status:
                check(time.monotonic() < deadline, f"still {got}")
                time.sleep(0.05)
            return got[2]

        await_ready(200)
        switch(False)
        # What needs the database waits for it for a while.
        with ThreadPoolExecutor(2) as pool:
            ready = pool.submit(await_ready, 503)
            jobs = pool.submit(server.request, "GET", "/jobs")
            equal(server.request("GET", "/livez")[0], 200, "alive")
            equal(server.request("GET", "/health")[0], 200, "health")
            check("[-] store failed" in ready.result(), "what is wrong is not said")
            equal(jobs.result()[0], 503, "a request that needs it")
        switch(True)
        await_ready(200)
        calls = len(place.target.of(path))
        place.target.await_calls(path, calls + 3)
        equal(server.stop(), 0, "exit code")


# ---- what it is told, and tells

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
        deadline = time.monotonic() + PATIENCE
        while True:
            found = [line for line in lines() if text in json.dumps(line)]
            if found:
                return found[-1]
            check(time.monotonic() < deadline, f"no line says {text}")
            time.sleep(0.01)

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
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            equal(quiet.request("GET", "/health")[0], 200, "health")
            break
        except OSError:
            check(time.monotonic() < deadline, "it does not answer")
            time.sleep(0.01)
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
    deadline = time.monotonic() + PATIENCE
    while len(place.target.calls) < 2:
        check(time.monotonic() < deadline, "fewer than two calls")
        time.sleep(0.01)
    try:        # time itself is what is tested: a third one must not come
        place.target.await_calls("/none", patience=0.5)
    except Failure:
        pass
    equal(len(place.target.calls), 2, "calls at once")
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
    # And what runs may end: its answer is taken.
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


def run(binary, function):
    place = Place(binary)
    start = time.monotonic()
    try:
        function(place)
        print(f"{function.__name__}: {time.monotonic() - start:.1f} s")
        return True
    except Failure as failure:
        logs = "".join(server.log() for server in place.servers)
        print(f"FAILED {function.__name__}: {failure}\n{logs}", file=sys.stderr)
        return False
    finally:
        place.close()


def main():
    binary, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    chosen = [function for function in CASES if not wanted or function.__name__ in wanted]
    # The longest first, so that the others run beside them.
    longest = (readiness_follows_the_database, an_unreachable_postgres_is_refused_soon)
    chosen.sort(key=lambda function: function not in longest)
    with ThreadPoolExecutor(PARALLEL) as pool:
        passed = list(pool.map(lambda function: run(binary, function), chosen))
    print(f"{sum(passed)} of {len(passed)} cases")
    sys.exit(0 if passed and all(passed) else 1)


if __name__ == "__main__":
    main()
