#!/usr/bin/env python3
"""The files of a server: their permissions, locks that cannot be deleted, secret files, and damage
that is told instead of served.

usage: file_cases.py KSANA [CASE…]
"""
import json
import os
import shutil
import stat
import subprocess

from kit.cases import arguments, case
from kit.checks import check, contains, equal
from kit.places import run_in_server_places
from kit.waiting import wait_for

# Exit codes as in base/error/error.cpp.
DATA_LOSS, INVALID, UNAVAILABLE = 1, 2, 6
FILES = {"sqlite": "ksana.db", "json": "jobs.json"}
JOB = {"schedule": {"kind": "every", "every": "240h"}, "http": {"url": "http://127.0.0.1:9/"}}


def data_of(server, name=""):
    return os.path.join(server.environment["DATA_DIR"], name)


def refuse(place, server, code, *parts):
    """A server on the store of another must not start."""
    got = place.refusal({**server.environment, "PORT": "0"}, store=server.store)
    equal(got[0], code, got[1])
    for part in parts:
        contains(part, got[1])


def flip(path, byte):
    with open(path, "r+b") as file:
        file.seek(byte)
        was = file.read(1)[0]
        file.seek(byte)
        file.write(bytes([was ^ 0x10]))


def doctor(place, url, *words, expect=0):
    done = subprocess.run([place.binary, "doctor", "-o", "json", "--store", url, *words],
                          capture_output=True, text=True, check=False, timeout=60,
                          cwd=place.folder, env={"PATH": os.environ["PATH"], "PORT": "0"})
    equal(done.returncode, expect, done.stdout + done.stderr)
    return {item["check"]: item for item in json.loads(done.stdout)["checks"]}


# ---- permissions

@case
def files_are_of_their_owner_whatever_the_umask(place):
    for store in FILES:
        server = place.server(store=store)
        server.wrapper = ["sh", "-c", "umask 000; exec \"$@\"", "sh"]
        server.start()
        server.create(id="j", **JOB)
        folder = data_of(server)
        equal(stat.S_IMODE(os.stat(folder).st_mode), 0o700, folder)
        for name in os.listdir(folder):
            equal(stat.S_IMODE(os.stat(data_of(server, name)).st_mode), 0o600, name)
        server.stop()


@case
def a_secret_that_others_can_read_is_refused(place):
    for mode in (0o644, 0o620):
        token = place.file("token", "0123456789abcdef\n", mode)
        got = place.refusal({"KSANA_API_TOKEN_FILE": token})
        equal(got[0], INVALID, got[1])
        contains("chmod 600", got[1])
    # As systemd gives a credential to the service.
    token = place.file("token", "0123456789abcdef\n", 0o440)
    place.server({"KSANA_API_TOKEN_FILE": token}).start().stop()


@case
def a_device_is_no_token_file(place):
    for path in ("/dev/zero", "/dev/null"):
        got = place.refusal({"KSANA_API_TOKEN_FILE": path})
        equal(got[0], INVALID, got[1])
        contains("is not a file", got[1])


# ---- locks

@case
def a_lock_cannot_be_deleted(place):
    for store, name in FILES.items():
        server = place.server(store=store).start()
        server.create(id="j", **JOB)
        os.remove(data_of(server, name + ".lock"))
        refuse(place, server, UNAVAILABLE, "in use by another process")
        server.create(id="k", **JOB)
        server.stop()


@case
def a_link_leads_to_the_same_lock(place):
    for store, name in FILES.items():
        server = place.server(store=store).start()
        other = place.server(store=store)
        os.makedirs(data_of(other))
        os.symlink(data_of(server, name), data_of(other, name))
        refuse(place, other, UNAVAILABLE, "in use by another process")
        server.stop()


# ---- damage

@case
def a_vanished_log_is_told_and_can_be_accepted(place):
    server = place.server().start()
    server.create(id="kept", **JOB)
    server.kill()
    os.remove(data_of(server, "ksana.db-wal"))
    refuse(place, server, DATA_LOSS, "ksana.db-wal is gone", "--repair")
    refuse(place, server, DATA_LOSS, "ksana.db-wal is gone")
    url = "sqlite:" + data_of(server, "ksana.db")
    contains("is gone", doctor(place, url, expect=1)["damage"]["found"])
    found = doctor(place, url, "--repair", expect=0)
    equal(found["damage"]["found"], "none found")
    check(os.path.exists(data_of(server, "ksana.db.bad")), "a copy is kept")
    server.start()
    server.stop()


@case
def a_flipped_bit_is_told(place):
    for store, name, place_of_bit in (("sqlite", "ksana.db", None),
                                      ("json", "jobs.runs.jsonl", 100)):
        server = place.server(store=store).start()
        for number in range(30):
            server.create(id=f"job-{number}", description="x" * 500, **JOB)
        server.stop()
        path = data_of(server, name)
        url = f"{store}:{data_of(server, FILES[store])}"
        equal(doctor(place, url)["damage"]["found"], "none found")
        if place_of_bit is None:
            with open(path, "rb") as file:
                place_of_bit = file.read().index(b"x" * 400) + 200
        shutil.copy(path, path + ".whole")
        flip(path, place_of_bit)
        contains("checksum", doctor(place, url, expect=1)["damage"]["found"])
        os.replace(path + ".whole", path)
        equal(doctor(place, url)["damage"]["found"], "none found")
        server.start()
        equal(server.job("job-7")["id"], "job-7")
        server.stop()


@case
def a_database_that_is_cut_while_it_runs_stops_the_writer(place):
    server = place.server().start()
    for number in range(20):
        server.create(id=f"job-{number}", description="x" * 3_000, **JOB)
    server.stop()
    server.start()
    path = data_of(server, "ksana.db")
    half = os.path.getsize(path) // 2
    os.truncate(path, half)
    status, _, body = server.request("POST", "/jobs", {"name": "n", "type": "http", **JOB})
    # A read before the write finds out, too.
    equal((status, body["code"]), (500, "data_loss"), body)
    server.await_line("was cut")
    wait_for(lambda: server.request("GET", "/readyz")[0], lambda status: status == 503, "not ready")
    equal(server.request("GET", "/livez")[0], 200)
    server.stop()
    equal(os.path.getsize(path), half, "nothing is written into what is left")
    refuse(place, server, DATA_LOSS, "was cut")


if __name__ == "__main__":
    run_in_server_places(arguments("KSANA"))
