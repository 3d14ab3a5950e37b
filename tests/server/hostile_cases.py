#!/usr/bin/env python3
"""Hostile targets and clients: the built server on SQLite stays on time and within its bounds, and
reports the right outcome of each call.

usage: hostile_cases.py KSANA [CASE…]
"""
import contextlib
import json
import os
import random
import selectors
import socket
import subprocess
import threading
import time

from kit.cases import arguments, case, run
from kit.checks import Failure, check, equal
from kit.hostile_target import MODES, HostileTarget
from kit.raw_client import Raw, hidden_request, job_body, post, smuggling_shapes, statuses
from kit.server import Server
from kit.targets import Target
from kit.times import after, time_of
from kit.usage import memory_of
from kit.waiting import PATIENCE, wait_for, wait_until

PARALLEL = 3
MOST_GROWTH = 40 << 20      # bytes of memory that an attack may cost, in an unoptimised build
LATEST = 1.0                # seconds that a well-behaved job may be late during an attack


def check_memory(server, before):
    # VmHWM is the peak of the resident memory.
    growth = memory_of(server, "VmHWM") - before
    check(growth < MOST_GROWTH, f"memory has grown by {growth >> 20} MB")


def processor_seconds(server):
    with open(f"/proc/{server.process.pid}/stat", encoding="utf-8") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def export_of(server):
    """Returns every record of the store, by kind."""
    done = subprocess.run([server.binary, "export", "--store",
                           "sqlite:" + os.path.join(server.folder, "data", "ksana.db")],
                          capture_output=True, check=False, timeout=PATIENCE)
    equal(done.returncode, 0, f"export: {done.stderr.decode(errors='replace')}")
    records = {}
    for line in done.stdout.decode().splitlines():     # strict: must be UTF-8
        for kind, record in json.loads(line).items():
            records.setdefault(kind, []).append(record)
    return records


def runs_of(server, job_id):
    return [run for run in export_of(server)["run"] if run.get("job_id") == job_id]


def http_job(url, **more):
    return {"method": "GET", "url": url, **more}


def once(seconds):
    return {"kind": "once", "run_at": after(seconds)}


def start_steady(server, target):
    """Starts a job that must stay on time during the attack."""
    server.create(id="steady", schedule={"kind": "every", "every": "200ms"}, overlap="allow",
                  http=http_job(target.url + "/ok/steady"))
    target.await_calls("/ok/steady")


def check_steady(target):
    calls = target.of("/ok/steady")
    seconds = (calls[-1].at - calls[0].at).total_seconds()
    check(len(calls) >= seconds / 0.2 * 0.8, f"{len(calls)} fires in {seconds} s")
    late = max((call.at - time_of(call.headers["Ksana-Scheduled-At"])).total_seconds()
               for call in calls)
    check(late < LATEST, f"a fire was {late:.3f} s late")


@case
def targets_end_as_they_must(server, target, hostile):
    start_steady(server, target)
    before = memory_of(server)
    copies = 4
    jobs = {}
    for mode, (_, status, error) in MODES.items():
        for number in range(copies):
            jobs[f"{mode}-{number}"] = (status, error)
            server.create(id=f"{mode}-{number}", schedule=once(0.5), timeout="1s", max_retries=0,
                          http=http_job(f"{hostile.url}/{mode}?{number}"))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        refused = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    jobs["refused"] = ("failed", "refused")
    server.create(id="refused", schedule=once(0.5), timeout="1s", max_retries=0,
                  http=http_job(refused))
    wrong = []
    for job_id, (status, error) in jobs.items():
        job = server.await_job(job_id, lambda job: job["last_status"], "over")
        if status and job["last_status"] != status or error not in job["last_error"]:
            wrong.append((job_id, job["last_status"], job["last_error"]))
        check(job["last_status"] == "success" or job["last_error"], f"{job_id}: no error")
    check(not wrong, f"ended otherwise: {wrong}")
    for mode in MODES:
        equal(len(hostile.of("/" + mode)), copies, f"calls of {mode}")
    for line in hostile.of("/endless_body") + hostile.of("/endless_chunks"):
        check(line.flooded < 16 << 20, f"{line.flooded} bytes were taken")
    check_memory(server, before)
    check_steady(target)


@case
def nasty_bytes_are_stored_and_shown_harmlessly(server, target, hostile):
    for mode, status in (("nasty_success", "success"), ("nasty_failure", "failed")):
        server.create(id=mode, schedule=once(0.1), max_retries=0,
                      http=http_job(f"{hostile.url}/{mode}"))
        job = server.await_status(mode, status)
        check("\0" not in json.dumps(job, ensure_ascii=False), "a NUL is shown")
        check("\x1b" not in job["last_error"], "an escape is shown")
        run, = runs_of(server, mode)
        detail = json.loads(run["status"]["detail"])
        check("\0" not in detail["body"] and "\ufffd" in detail["body"], detail)
    check("\x1b[31m" not in "".join(server.lines), "an escape is in the log")


@case
def kept_connections_that_close_harm_no_call(server, target, hostile):
    for mode in ("close", "drop"):
        server.create(id=mode, schedule={"kind": "every", "every": "100ms"}, timeout="5s",
                      max_retries=0, overlap="allow", http=http_job(f"{hostile.url}/keep/{mode}"))
    wait_until(lambda: min(len(hostile.of("/keep/close")), len(hostile.of("/keep/drop"))) >= 15,
               "15 calls of each kind")
    check(hostile.of("/dropped"), "no connection was used again")
    for mode in ("close", "drop"):
        server.call("POST", f"/jobs/{mode}/pause")
        over = [run for run in runs_of(server, mode) if run["status"].get("finished_at")]
        check(len(over) >= 10, f"{len(over)} runs of {mode}")
        equal({run["status"]["state"] for run in over}, {"succeeded"}, f"runs of {mode}")


@case(settings={"MAX_RETRIES": "3", "RETRY_BACKOFF": "50ms"})
def metadata_addresses_are_never_called(server, target, hostile):
    for number, url in enumerate(("http://169.254.169.254/latest/meta-data/",
                                  "http://2852039166/", "http://[fe80::1]/",
                                  "http://[::ffff:a9fe:a9fe]/", "http://0.0.0.0/")):
        job_id = f"metadata-{number}"
        server.create(id=job_id, schedule=once(0.1), timeout="20s", http=http_job(url))
        job = server.await_status(job_id, "failed")
        check("not an allowed target" in job["last_error"],
              f"{url}: {job['last_error']}")
        run, = runs_of(server, job_id)
        equal(run["status"]["attempt"], 1, f"attempts of {url}")
    for path in ("/to_metadata", "/to_self"):
        server.create(id=path[1:], schedule=once(0.1), timeout="20s",
                      http=http_job(hostile.url + path))
        job = server.await_status(path[1:], "failed")
        check("HTTP 30" in job["last_error"], job["last_error"])
        equal(len(hostile.of(path)), 1, f"calls of {path}")
    equal(hostile.of("/redirected"), [], "redirects that were followed")


def spellings(port):
    return [f"http://{host}:{port}/nasty_success" for host in
            ("127.0.0.1", "2130706433", "127.1", "0x7f000001", "0177.0.0.1", "[::ffff:7f00:1]",
             "[::1]", "localhost", "127.0.0.2")]


@case(settings={"KSANA_EGRESS": "public", "MAX_RETRIES": "3", "RETRY_BACKOFF": "50ms"})
def public_egress_reaches_nothing_of_ours(server, target, hostile):
    for number, url in enumerate([*spellings(hostile.port), "http://10.0.0.1/",
                                  "http://192.168.1.1/", "http://[fd00::1]/",
                                  "http://100.64.0.1/"]):
        job_id = f"ours-{number}"
        server.create(id=job_id, schedule=once(0.1), timeout="20s", http=http_job(url))
        job = server.await_status(job_id, "failed")
        check("not an allowed target" in job["last_error"],
              f"{url}: {job['last_error']}")
        run, = runs_of(server, job_id)
        equal(run["status"]["attempt"], 1, f"attempts of {url}")
    equal(hostile.accepted, 0, "connections")


@case(settings={"KSANA_EGRESS": "public", "KSANA_EGRESS_ALLOW": "127.0.0.0/8"})
def what_is_allowed_is_open_again(server, target, hostile):
    server.create(id="open", schedule=once(0.1), http=http_job(hostile.url + "/nasty_success"))
    server.await_status("open", "success")
    server.create(id="closed", schedule=once(0.1), http=http_job("http://10.0.0.1/"))
    server.await_status("closed", "failed")
    server.create(id="redirected", schedule=once(0.1), max_retries=0,
                  http=http_job(hostile.url + "/to_metadata"))
    server.await_status("redirected", "failed")


@case
def parameters_of_a_run_stay_where_they_stand(server, target, hostile):
    """A user who may start a run cannot inject headers, other paths or other members with it."""
    def send(number, value):
        """Returns the call, or None if the server refused it."""
        job_id = f"j{number}"
        server.create(id=job_id, schedule={"kind": "every", "every": "1h"}, max_retries=0,
                      http={"method": "POST", "headers": {"X-Given": "{{params.x}}"},
                            "url": target.url + "/ok/{{params.x}}?a={{params.x}}",
                            "body": '{"given": "{{params.x}}"}'})
        before = len(target.calls)
        server.call("POST", f"/jobs/{job_id}/run-now", {"x": value}, expect=202)
        job = server.await_job(job_id, lambda job: job["last_status"], "over")
        calls = target.calls[before:]
        check(len(calls) == (job["last_status"] == "success"), f"{value!r}: {job} {len(calls)}")
        return calls[0] if calls else None

    for number, value in enumerate((
            "plain", "ä 日", "../../admin?b=1#c", "a\r\nX-Evil: 1", "a\nX-Evil: 1",
            "a\r\n\r\nGET /evil HTTP/1.1\r\n\r\n", '", "evil": "1', "\0", "{{job_id}}")):
        call = send(number, value)
        check(call or any(ord(c) < 32 for c in value), f"{value!r} was refused")
        if call:
            check("X-Evil" not in call.headers, f"{value!r}: {call.headers}")
            equal(call.json(), {"given": value}, f"body with {value!r}")
            check(call.path.startswith("/ok/") and call.path.count("/") == 2
                  and call.path.count("?") == 1 and "#" not in call.path and "&" not in call.path,
                  f"{value!r}: {call.path}")
    equal(target.of("/evil"), [], "smuggled requests")


@case
def headers_of_the_connection_cannot_be_set(server, target, hostile):
    for name, value in (("Host", "other"), ("Content-Length", "0"), ("Connection", "close"),
                        ("Transfer-Encoding", "chunked"), ("X-A", "b\r\nX-Evil: 1"),
                        ("X-A\r\nX-Evil", "1"), ("X A", "1"), ("", "1"), ("X-A", "b\0c")):
        job = {"id": "j", "name": "n", "type": "http", "schedule": once(0), "max_retries": 0,
               "http": http_job(target.url + "/ok/headers", headers={name: value})}
        status, _, problem = server.request("POST", "/jobs", job)
        equal(status, 400, f"{name}: {value}: {problem}")
    for url in (f"http://user:s3cret@127.0.0.1:{hostile.port}/x", "file:///etc/passwd",
                "gopher://127.0.0.1/", f"http://127.0.0.1:{hostile.port}/\r\nX-Evil: 1"):
        status, _, problem = server.request("POST", "/jobs", {
            "id": "j", "name": "n", "type": "http", "schedule": once(0), "http": http_job(url)})
        equal(status, 400, f"{url}: {problem}")
        check("s3cret" not in json.dumps(problem), "a password is shown")
    equal(target.of("/ok/headers"), [], "calls")
    equal(hostile.accepted, 0, "connections")


# ---- clients

def check_quick(server, seconds=1.0):
    """Checks that the server answers, reads and writes quickly."""
    for method, path, body in (("GET", "/health", None), ("GET", "/jobs?limit=1", None),
                               ("GET", "/readyz", None),
                               ("POST", "/jobs", job_body(f"quick-{random.random()}"))):
        start = time.monotonic()
        status = server.request(method, path, body)[0]
        took = time.monotonic() - start
        check(status in (200, 201), f"{method} {path}: {status}")
        check(took < seconds, f"{method} {path} took {took:.2f} s")


@case(first=True)
def slow_clients_are_cut_and_harm_nobody(server, target, hostile):
    start_steady(server, target)
    before = memory_of(server)
    selector = selectors.DefaultSelector()
    start = time.monotonic()
    for number in range(200):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        if number % 2:
            connection.sendall(b"GET /jobs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        else:
            connection.sendall(post(b"{", "Content-Length: 1000"))
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ)
    next_byte, asked = start + 1, 0

    def all_are_cut():
        """Serves the connections until the next second; each client sends one byte a second."""
        nonlocal next_byte, asked
        for key, _ in selector.select(max(0, next_byte - time.monotonic())):
            try:
                if key.fileobj.recv(65536):
                    continue
            except ConnectionResetError:
                pass
            selector.unregister(key.fileobj)
            key.fileobj.close()
        if time.monotonic() >= next_byte:
            next_byte += 1
            for key in list(selector.get_map().values()):
                try:
                    key.fileobj.send(b"x")
                except OSError:
                    pass
            check_quick(server)
            asked += 1
        return not selector.get_map()

    wait_until(all_are_cut, lambda: f"the end of {len(selector.get_map())} slow clients",
               within=16 - (time.monotonic() - start), pause=0)
    check(time.monotonic() - start > 5, "they were cut before their time")
    check(asked >= 5, "the server was not asked meanwhile")
    check_memory(server, before)
    check_steady(target)


@case
def large_and_deep_bodies_are_refused(server, target, hostile):
    before = memory_of(server)
    ten = bytes(10_000_000)
    with Raw(server) as raw:
        raw.send(post(b"", "Content-Length: 10000000"))     # refused before the body is sent
        equal(statuses(raw.read_to_end()), [413], "by its length")
    with Raw(server) as raw:
        raw.send(post(ten, "Content-Length: 10000000"))
        raw.read_to_end()
    with Raw(server) as raw:
        raw.send(post(b"989680\r\n" + ten + b"\r\n0\r\n\r\n", "Transfer-Encoding: chunked"))
        check(statuses(raw.read_to_end()) in ([413], []), "in chunks")
    with Raw(server) as raw:        # endless small chunks
        raw.send(post(b"1\r\nx\r\n" * 2_000_000, "Transfer-Encoding: chunked"))
        check(statuses(raw.read_to_end()) in ([413], []), "in small chunks")
    for body in (b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000,
                 b'{"http":' + b"[" * 100_000, b"9" * 900_000, b'"' + b"\\u0000" * 100_000 + b'"',
                 b'{"name":"' + b"\xff" * 1000 + b'"}', b'{"id":"a","id":"b"}'):
        equal(server.request("POST", "/jobs", body)[0], 400, f"{body[:20]!r}…")
    equal(server.call("GET", "/jobs"), [], "jobs")
    check_quick(server)
    check_memory(server, before)


@case
def smuggled_requests_are_not_seen(server, target, hostile):
    for name, shape in smuggling_shapes("smuggled").items():
        with Raw(server) as raw:
            raw.send(shape)
            got = statuses(raw.read_to_end())
        check(len(got) == 1 and (got[0] == 400 or got[0] in (413, 501, 505)), f"{name}: {got}")
    equal(server.call("GET", "/jobs"), [], "jobs")
    with Raw(server) as raw:        # the same request is accepted when it is not hidden
        raw.send(hidden_request("smuggled"))
        raw.socket.shutdown(socket.SHUT_WR)
        equal(statuses(raw.read_to_end()), [201], "in the open")


@case
def pipelined_requests_are_answered_in_order(server, target, hostile):
    """The pool of threads handles half of the requests, the I/O thread the other half."""
    expected, content = [], b""
    for number in range(50):
        body = job_body(f"p{number}")
        content += post(body, f"Content-Length: {len(body)}")
        content += f"GET /jobs/p{number} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        expected += [(201, f"p{number}"), (200, f"p{number}")]
    with Raw(server) as raw:
        # A thread sends them: the server need not read all requests before its first answer.
        sender = threading.Thread(target=raw.send, args=(content,))
        sender.start()
        reader = raw.socket.makefile("rb")
        for status, job_id in expected:
            line = reader.readline()
            equal(int(line.split()[1]), status, f"status of {job_id}")
            length = 0
            while (header := reader.readline()) not in (b"\r\n", b""):
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            equal(json.loads(reader.read(length))["id"], job_id, "order")
        sender.join()


@case
def garbage_and_half_closed_connections(server, target, hostile):
    before = memory_of(server)
    seed = random.randrange(1 << 32)
    source = random.Random(seed)
    for number in range(60):
        with Raw(server) as raw:
            start = source.choice((b"", b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/1.1\r\n",
                                   b"POST /jobs HTTP/1.1\r\nHost: localhost\r\n"
                                   b"Content-Length: 10\r\n\r\n"))
            raw.send(start + source.randbytes(source.randrange(1, 3000)))
            raw.socket.shutdown(socket.SHUT_WR)
            got = raw.read_to_end()
        check(all(400 <= status < 500 for status in statuses(got)),
              f"seed {seed}, number {number}: {got[:200]!r}")
    with Raw(server) as raw:        # half-closed: the server still answers
        raw.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        raw.socket.shutdown(socket.SHUT_WR)
        equal(statuses(raw.read_to_end()), [200], "half-closed")
    for content in (b"", b"GET /jo", post(b"{", "Content-Length: 100")):
        with Raw(server) as raw:
            raw.send(content)
            raw.socket.shutdown(socket.SHUT_WR)
            check(statuses(raw.read_to_end()) in ([], [400]), f"cut off: {content!r}")
    equal(server.call("GET", "/jobs"), [], "jobs")
    check_quick(server)
    check_memory(server, before)


@case
def idle_connections_cost_little(server, target, hostile):
    start_steady(server, target)
    before = memory_of(server)
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            for _ in range(500)]
    try:
        for connection in idle[::2]:        # half of them have been used
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for connection in idle[::2]:
            check(connection.recv(65536).startswith(b"HTTP/1.1 200"), "not answered")
        for _ in range(5):
            check_quick(server)
        check_memory(server, before)
    finally:
        for connection in idle:
            connection.close()
    check_quick(server)
    check_steady(target)


@case(wrapper=["prlimit", "--nofile=64"])
def a_server_without_descriptors_recovers(server, target, hostile):
    """M28"""
    server.create(id="steady", schedule={"kind": "every", "every": "200ms"}, max_retries=0,
                  http=http_job(target.url + "/ok/steady"))
    target.await_calls("/ok/steady")
    many = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            for _ in range(100)]
    calls, busy = len(target.of("/ok/steady")), processor_seconds(server)
    target.await_calls("/ok/steady", calls + 5)     # over the kept-alive connection
    busy = processor_seconds(server) - busy
    check(busy < 0.5, f"it was busy for {busy:.2f} s of one second in which it could do nothing")
    for connection in many:
        connection.close()
    wait_for(lambda: check_quick(server), lambda _: True, "quick answers again", pause=0.1,
             ignoring=(OSError, Failure))
    server.await_status("steady", "success")


@contextlib.contextmanager
def hostile_place(binary, one):
    """A server with the settings of the case, a target and a hostile target."""
    server = Server(binary, "sqlite", wrapper=one.options.get("wrapper", ()),
                    environment={"WORKERS": "128", "MAX_RETRIES": "0",
                                 **one.options.get("settings", {})})
    with Target() as target, HostileTarget() as hostile, server:
        server.start()
        yield server, target, hostile
        hostile.close()
        equal(server.stop(), 0, "exit code")


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda one: hostile_place(given.ksana, one), PARALLEL)
