#!/usr/bin/env python3
"""A server under limits of the system: sizes of files, descriptors, memory, threads (M06, M28). It
answers errors and goes on; what it has acknowledged is there after the next start.

usage: system_limit_cases.py KSANA [CASE…]
"""
import resource
import socket

from kit.cases import arguments, case
from kit.checks import check, contains, equal
from kit.places import run_in_server_places
from kit.waiting import wait_for

FILES_FULL, UNAVAILABLE = 507, 503
JOB = {"schedule": {"kind": "every", "every": "240h"}, "http": {"url": "http://127.0.0.1:9/"}}


def limit(server, kind, value):
    """Sets a limit of a server that runs."""
    hard = resource.prlimit(server.process.pid, kind)[1]
    resource.prlimit(server.process.pid, kind, (value, hard))


def make_until_refused(server, most=400, size=20_000):
    """Creates jobs until one is refused. Returns the ids of those that were acknowledged."""
    made = []
    for number in range(most):
        job = {"id": f"job-{number}", "name": "n", "type": "http", **JOB,
               "http": {"url": "http://127.0.0.1:9/", "method": "POST", "body": "x" * size}}
        status, _, body = server.request("POST", "/jobs", job)
        if status != 201:
            return made, status, body
        made.append(job["id"])
    check(False, f"{most} jobs were taken")
    return None


def check_all_there(server, made):
    for job_id in made:
        equal(server.job(job_id)["id"], job_id)


# M06: a full disk, as RLIMIT_FSIZE: SIGXFSZ must not end the process.
@case
def files_that_may_not_grow(place):
    for store in ("sqlite", "json"):
        server = place.server(store=store).start()
        server.create(id="first", **JOB)
        limit(server, resource.RLIMIT_FSIZE, 1_000_000)
        made, status, body = make_until_refused(server)
        equal(status, FILES_FULL, body)
        equal(body["code"], "storage_full")
        limit(server, resource.RLIMIT_FSIZE, 4_096)         # nor does a small write work
        status, headers, body = server.request("POST", "/api/v1/jobs", {
            "name": "n", "schedule": JOB["schedule"], "http": {
                "url": "http://127.0.0.1:9/", "method": "POST", "body": "x" * 20_000}})
        equal((status, headers.get("Retry-After")), (FILES_FULL, "1"), body)
        ready = wait_for(lambda: server.request("GET", "/readyz?verbose"),
                         lambda got: got[0] == UNAVAILABLE, "not ready")
        contains("store failed", ready[2])
        equal(server.request("GET", "/livez")[0], 200)
        check_all_there(server, made)
        limit(server, resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)
        wait_for(lambda: server.request("GET", "/readyz")[0], lambda status: status == 200, "ready")
        server.create(id="last", **JOB)
        server.kill()
        server.start()
        check_all_there(server, ["first", *made, "last"])
        server.stop()


@case
def too_few_descriptors(place):
    server = place.server().start()
    server.create(id="first", **JOB)
    limit(server, resource.RLIMIT_NOFILE, 64)
    clients = []
    for _ in range(100):
        client = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        clients.append(client)
    for client in clients:
        client.close()
    wait_for(lambda: answers(server), lambda status: status == 200, "an answer")
    equal(server.request("GET", "/readyz")[0], 200)
    server.create(id="second", **JOB)
    check_all_there(server, ["first", "second"])
    equal(server.stop(), 0)


def answers(server):
    try:
        return server.request("GET", "/jobs/first")[0]
    except OSError:
        return 0


@case
def too_little_memory(place):
    server = place.server().start()
    server.create(id="first", **JOB)
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    limit(server, resource.RLIMIT_AS, used + 4_000_000)
    big = {"id": "big", "name": "n", "type": "http", **JOB, "description": "x" * 30_000_000}
    try:
        status = server.request("POST", "/jobs", big)[0]
    except OSError:
        status = UNAVAILABLE            # the connection was closed
    check(status >= 400, f"a job of 30 MB: {status}")
    equal(server.process.poll(), None, "it lives")
    wait_for(lambda: answers(server), lambda status: status == 200, "an answer")
    limit(server, resource.RLIMIT_AS, resource.RLIM_INFINITY)
    server.create(id="second", **JOB)
    check_all_there(server, ["first", "second"])
    equal(server.stop(), 0)


# Threads and buffers that cannot be made are an error with an exit code, not an abort.
@case
def too_little_memory_at_the_start(place):
    for megabytes in (80, 100, 120):
        code, said = place.refusal(wrapper=["prlimit", f"--as={megabytes * 1_000_000}"])
        check(code > 0, f"{megabytes} MB: {code} {said}")


if __name__ == "__main__":
    run_in_server_places(arguments("KSANA"))
