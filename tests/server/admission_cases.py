#!/usr/bin/env python3
"""What a request may cost before the server knows who sends it, and afterwards: bodies, names in
Host, breadth of JSON, costly reads, shares of single clients; the built server on SQLite.

usage: admission_cases.py KSANA [CASE…]
"""
import contextlib
import http.client
import json
import os
import resource
import selectors
import socket
import threading
import time

from kit.cases import arguments, case, run
from kit.checks import check, equal
from kit.raw_client import Raw, statuses
from kit.server import Server
from kit.usage import memory_of
from kit.waiting import PATIENCE, wait_for

PARALLEL = 2
MB = 1 << 20
TOKEN = "0123456789abcdef"
# Routes that take large bodies, and those of agents and workers.
LARGE = ("/api/v1/runs/batch", "/api/v1/agent/exchange", "/api/v1/runs", "/task", "/jobs",
         "/api/v1/agent/claim", "/api/v1/workers", "/api/workers")


def head(path, length, *headers, method="POST", host="localhost"):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Content-Type: application/json",
             f"Content-Length: {length}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def first_answer(raw):
    """Returns the status, the headers in lower case and the body of the next answer."""
    response = http.client.HTTPResponse(raw.socket)
    response.begin()
    content = response.read()
    return response.status, {key.lower(): value for key, value in response.getheaders()}, content


def check_growth(server, before, most):
    growth = (memory_of(server, "VmHWM") - before) >> 20
    check(growth < most, f"memory has grown by {growth} MB")


@case(token=True)
def bodies_without_a_token_are_not_read(server):
    """Forty clients send 60 MB each, without a token."""
    before = memory_of(server)
    seen = {}

    def attack(number):
        path = LARGE[number % len(LARGE)]
        with Raw(server) as raw:
            begun = time.monotonic()
            raw.send(head(path, 60 * MB))
            status = first_answer(raw)[0]       # no byte of the body has been sent
            seen[number] = (path, status, time.monotonic() - begun)
            piece = bytes(MB)
            for _ in range(60):
                raw.send(piece)

    attackers = [threading.Thread(target=attack, args=(number,)) for number in range(40)]
    for one in attackers:
        one.start()
    for one in attackers:
        one.join()
    equal(len(seen), 40, "answers")
    for path, status, took in seen.values():
        equal(status, 401, path)
        check(took < 5, f"{path} took {took:.1f} s")
    check_growth(server, before, 20)


@case(token=True)
def chunked_bodies_without_a_token_are_not_read(server):
    with Raw(server) as raw:
        raw.send(b"POST /api/v1/runs/batch HTTP/1.1\r\nHost: localhost\r\n"
                 b"Transfer-Encoding: chunked\r\n\r\n")
        equal(first_answer(raw)[0], 401, "by its head")


@case(settings={"KSANA_MAX_BODIES": "16MB"})
def bodies_share_a_budget(server):
    """With 16 MB for bodies, forty uploads of 12 MB cost little, and small requests go on."""
    before = memory_of(server)
    uploads = [Raw(server) for _ in range(40)]
    try:
        for raw in uploads:
            raw.send(head("/api/v1/runs/batch", 12 * MB))
        for raw in uploads[:12]:
            raw.send(bytes(2 * MB))
        server.create(id="meanwhile", schedule={"kind": "every", "every": "1h"},
                      http={"method": "GET", "url": "http://127.0.0.1/"})
        got = [text for raw in uploads[:12] if (text := read_soon(raw))]
        check(got, "no upload was refused")
        for text in got:
            equal(statuses(text), [503], "a refused upload")
            check(b"Retry-After: 1" in text, "without Retry-After")
    finally:
        for raw in uploads:
            raw.socket.close()
    status = wait_for(lambda: large_batch(server), lambda status: status != 503,
                      "room for a large body again", pause=0.1, ignoring=(OSError,))
    equal(status, 400, "a batch that is no JSON")
    check_growth(server, before, 60)


def read_soon(raw):
    """Returns what the server sends within a second, up to the end."""
    raw.socket.settimeout(1)
    got = b""
    with contextlib.suppress(OSError):
        while piece := raw.socket.recv(65536):
            got += piece
    return got


def large_batch(server):
    return server.request("POST", "/api/v1/runs/batch", bytes(12 * MB),
                          {"Content-Type": "application/json"})[0]


@case
def a_body_larger_than_its_route_takes_is_refused_at_once(server):
    for method, path, length in (("POST", "/jobs", 2 * MB), ("POST", "/api/v1/runs", 9 * MB),
                                 ("POST", "/api/v1/runs/batch", 70 * MB),
                                 ("GET", "/jobs", 5000), ("DELETE", "/jobs/x", 5000)):
        with Raw(server) as raw:
            raw.send(head(path, length, method=method))
            equal(first_answer(raw)[0], 413, f"{method} {path}")


@case
def a_name_that_was_rebound_is_misdirected(server):
    """A page of evil.example whose name resolves to 127.0.0.1 now has its own name as Host."""
    evil = f"evil.example:{server.port}"
    job = json.dumps({"id": "planted", "name": "n", "type": "http",
                      "schedule": {"kind": "every", "every": "1h"},
                      "http": {"method": "GET", "url": "http://127.0.0.1/"}}).encode()
    for method, path in (("POST", "/jobs"), ("POST", "/api/v1/jobs"), ("GET", "/jobs"),
                         ("GET", "/metrics"), ("GET", "/api/v1/settings"),
                         ("GET", "/api/v1/events")):
        with Raw(server) as raw:
            body = job if method == "POST" else b""
            raw.send(head(path, len(body), f"Origin: http://{evil}", method=method, host=evil)
                     + body)
            status, _, content = first_answer(raw)
        equal(status, 421, f"{method} {path}")
        problem = json.loads(content)
        equal(problem["code"], "misdirected_request", "code")
        check("evil.example" in problem["detail"] and "allowed_hosts" in problem["detail"], problem)
    equal(server.call("GET", "/jobs"), [], "jobs")
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", f"127.0.0.1:{server.port}", "[::1]:80"):
        with Raw(server) as raw:
            raw.send(head("/jobs", 0, method="GET", host=host))
            equal(first_answer(raw)[0], 200, host)
    # Probes come with the address of a pod as Host, and tell nothing.
    for path in ("/livez", "/readyz", "/health"):
        with Raw(server) as raw:
            raw.send(head(path, 0, method="GET", host="10.1.2.3:7100"))
            equal(first_answer(raw)[0], 200, path)


@case(settings={"KSANA_ALLOWED_HOSTS": "ksana.example, 10.0.0.5"})
def further_names_are_a_setting(server):
    for host, status in (("ksana.example", 200), ("Ksana.Example:443", 200), ("10.0.0.5:7100", 200),
                         ("localhost", 200), ("x.ksana.example", 421), ("10.0.0.6", 421)):
        with Raw(server) as raw:
            raw.send(head("/jobs", 0, method="GET", host=host))
            equal(first_answer(raw)[0], status, host)


@case(token=True)
def with_a_token_any_name_does(server):
    """The token keeps out pages; the name of a reverse proxy must not break."""
    with Raw(server) as raw:
        raw.send(head("/jobs", 0, f"Authorization: Bearer {TOKEN}", method="GET",
                      host="proxy.example"))
        equal(first_answer(raw)[0], 200, "with a token")


@case(token=True, settings={"KSANA_ALLOWED_HOSTS": "ksana.example"})
def with_a_token_too_where_hosts_are_named(server):
    for host, status in (("ksana.example", 200), ("127.0.0.1", 200), ("proxy.example", 421)):
        with Raw(server) as raw:
            raw.send(head("/jobs", 0, f"Authorization: Bearer {TOKEN}", method="GET", host=host))
            equal(first_answer(raw)[0], status, host)


@case
def pages_of_other_origins_cannot_make_the_server_compute(server):
    for path in ("/api/v1/simulate", "/api/v1/preview"):
        equal(server.request("POST", path, "{}", {"Origin": "http://evil.example"})[0], 403, path)


@case
def wide_json_is_refused_quickly_and_briefly(server):
    zeros = b"[" + b"0," * (29 * MB) + b"0]"
    keys = b"{" + b",".join(b'"%d":0' % number for number in range(4_500_000)) + b"}"
    before = memory_of(server)
    for path, body in (("/api/v1/runs/batch", b'{"runs":' + zeros + b"}"), ("/task", zeros),
                       ("/api/v1/runs/batch", keys), ("/task", keys)):
        begun = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        connection.close()
        took = time.monotonic() - begun
        equal(response.status, 400, path)
        check(len(content) < 10_000, f"{path}: an answer of {len(content)} bytes")
        check(took < 10, f"{path} took {took:.1f} s")      # in an unoptimised build
    # The body itself, its copy while it grows, and the values up to the refusal.
    check_growth(server, before, 6 * 60)


@case
def the_first_hundred_problems_are_told(server):
    keys = {f"unknown{number}": 0 for number in range(50_000)}
    for path in ("/api/v1/jobs", "/api/v1/simulate", "/jobs", "/task", "/api/tasks",
                 "/api/workers"):
        status, _, problem = server.request("POST", path, keys)
        equal(status, 400, path)
        check(len(problem["errors"]) == 101, f"{path}: {len(problem['errors'])} problems")
        last = problem["errors"][-1]
        equal(last["code"], "more", path)
        check(int(last["detail"].split()[1]) >= 49_900, f"{path}: {last}")


def other_address(server, content):
    """A connection from 127.0.0.2, another client than the rest of this suite."""
    made = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE,
                                    source_address=("127.0.0.2", 0))
    made.sendall(content)
    return made


@case
def one_client_cannot_take_all_event_streams(server):
    stream = head("/api/v1/events", 0, method="GET")
    greedy = [Raw(server) for _ in range(200)]
    try:
        got = []
        for raw in greedy:
            raw.send(stream)
            line = raw.socket.recv(4096).split(b"\r\n")[0]
            got.append(int(line.split()[1]))
        equal(got.count(200), 50, "streams of one client")
        equal(got.count(429), 150, "refusals")
        with other_address(server, stream) as other:
            check(other.recv(4096).startswith(b"HTTP/1.1 200"), "another client was refused")
    finally:
        for raw in greedy:
            raw.socket.close()


def answered_of(raws):
    """Returns the sockets that have an answer; there may be more than select() takes."""
    with selectors.DefaultSelector() as selector:
        for raw in raws:
            selector.register(raw.socket, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(1)]


@case
def one_client_cannot_take_all_polls(server):
    claim = b'{"worker":"w","types":["mail"],"wait":"50s"}'
    request = head("/api/v1/agent/claim", len(claim)) + claim
    greedy = [Raw(server) for _ in range(1001)]
    try:
        for raw in greedy:
            raw.send(request)
        answered = wait_for(lambda: answered_of(greedy), bool, "a refusal")
        equal(len(answered), 1, "answers")
        check(answered[0].recv(4096).startswith(b"HTTP/1.1 429"), "not refused")
        brief = claim.replace(b"50s", b"1ms")
        with other_address(server, head("/api/v1/agent/claim", len(brief)) + brief) as other:
            check(other.recv(4096).startswith(b"HTTP/1.1 204"), "another client was refused")
    finally:
        for raw in greedy:
            raw.socket.close()


@case
def one_client_cannot_shut_others_out_with_idle_connections(server):
    """4,000 connections are allowed for one address."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    idle = []
    try:
        for _ in range(4200):
            idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
        equal(server.call("GET", "/jobs"), [], "a further client")
        for path in ("/livez", "/readyz"):
            equal(server.request("GET", path)[0], 200, path)
    finally:
        for connection in idle:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@case(wrapper=["prlimit", "--nofile=256"])
def idle_connections_leave_descriptors_for_others(server):
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            for _ in range(400)]
    try:
        server.create(id="meanwhile", schedule={"kind": "every", "every": "1h"},
                      http={"method": "GET", "url": "http://127.0.0.1/"})
        for path in ("/livez", "/readyz"):
            equal(server.request("GET", path)[0], 200, path)
    finally:
        for connection in idle:
            connection.close()


@case(wrapper=["prlimit", "--nofile=256"])
def probes_are_answered_while_all_connections_are_taken(server):
    """Every connection is busy: none can make room."""
    slow = []
    try:
        for _ in range(400):
            slow.append(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            slow[-1].sendall(b"GET /jobs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        for path in ("/livez", "/readyz", "/livez"):
            equal(server.request("GET", path)[0], 200, path)
        status, headers, _ = server.request("GET", "/jobs")
        equal(status, 503, "another request")
        equal(headers["Retry-After"], "1", "Retry-After")
    finally:
        for connection in slow:
            connection.close()


@case
def a_simulation_ends_with_its_client(server):
    """40 million fires take seconds; the next client need not wait for them."""
    jobs = [{"id": f"j{number}", "name": "n", "type": "http",
             "schedule": {"kind": "every", "every": "1s"},
             "http": {"method": "GET", "url": "http://127.0.0.1/"}} for number in range(40)]
    body = json.dumps({"from": "2026-01-01T00:00:00Z", "to": "2026-01-12T00:00:00Z",
                       "stored": False, "slots": 50, "changes": jobs}).encode()
    with Raw(server) as raw:
        raw.send(head("/api/v1/simulate", len(body)) + body)
        small = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:01:00Z"}
        wait_for(lambda: server.request("POST", "/api/v1/simulate", small)[0],
                 lambda status: status == 429, "the simulation to be under way", pause=0.01)
    gone = time.monotonic()
    wait_for(lambda: server.request("POST", "/api/v1/simulate", small)[0],
             lambda status: status == 200, "room for another simulation", pause=0.05)
    took = time.monotonic() - gone
    check(took < 3, f"it went on for {took:.1f} s without its client")


@contextlib.contextmanager
def place(binary, one):
    server = Server(binary, "sqlite", wrapper=one.options.get("wrapper", ()),
                    environment=dict(one.options.get("settings", {})))
    if one.options.get("token"):
        path = os.path.join(server.folder, "token")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            file.write(TOKEN)
        server.environment["KSANA_API_TOKEN_FILE"] = path
    with server:
        server.start()
        yield server
        equal(server.stop(), 0, "exit code")


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda one: place(given.ksana, one), PARALLEL)
