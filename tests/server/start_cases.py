#!/usr/bin/env python3
"""The start of the server: refused configurations with their message and exit code. Also the access
rules for clients: TLS, token, origin.

usage: start_cases.py KSANA [CASE…]
"""
import http.client
import os
import socket
import sqlite3
import ssl
import subprocess
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

from kit.cases import arguments, case
from kit.checks import Failure, check, equal
from kit.places import run_in_server_places
from kit.waiting import PATIENCE

# Exit codes as in base/error/error.cpp.
UNIMPLEMENTED, INVALID, CONFLICT, UNAVAILABLE, TOO_LATE = 1, 2, 5, 6, 124
TOKEN = "0123456789abcdef0123456789abcdef"


def check_refusal(got, code, *parts):
    equal(got[0], code, f"exit code of: {got[1]}")
    for part in parts:
        check(part in got[1], f"{part!r} is not in: {got[1]}")


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
    if os.getuid() == 0:        # root may write everywhere
        place.folder.chmod(0o755)
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for store in ("sqlite", "json"):
        # The user nobody must be able to read the server's working folder.
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
        first.kill()        # the lock ends with the process
        second = place.server({"DATA_DIR": first.environment["DATA_DIR"]}, store=store).start()
        equal(second.stop(), 0, "exit code")


@case(first=True)
def an_unreachable_postgres_is_refused_soon(place):
    """Within the ten seconds that the server waits for its database."""
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
        # the second port accepts connections and sends nothing
        ports = refusing, silent.getsockname()[1]
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
    os.remove(path + "-sums")  # the checksums of the pages before this change
    check_refusal(place.refusal({"DATA_DIR": server.environment["DATA_DIR"]}), CONFLICT, "99")


# ---- libraries

@case
def libraries_are_loaded_when_they_are_needed(place):
    broken = place.folder / "libraries"
    broken.mkdir()
    for name in ("libcurl.so.4", "libpq.so.5"):
        (broken / name).write_text("no library")
    environment = {"LD_LIBRARY_PATH": str(broken)}
    server = place.server(environment).start()
    hourly = {"kind": "every", "every": "1h"}
    for job_id, url in (("plain", place.target.url + "/ok"), ("tls", "https://127.0.0.1:1/")):
        server.create(id=job_id, schedule=hourly, max_retries=0, http={"url": url})
        server.call("POST", f"/jobs/{job_id}/run-now", expect=202)
    server.await_status("plain", "success")
    refused = server.await_job("tls", lambda job: job["last_error"], "over")
    check("libcurl.so.4: install libcurl4" in refused["last_error"], refused)
    equal(server.stop(), 0, "exit code")
    check_refusal(place.refusal(environment, store="postgresql://127.0.0.1:1/k"), UNIMPLEMENTED,
                  "libpq.so.5: install libpq5")


# ---- access

def make_certificate(place):
    certificate, key = str(place.folder / "cert.pem"), str(place.folder / "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return certificate, key


def https_status(server, certificate):
    context = ssl.create_default_context(cafile=certificate)
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context,
                                             timeout=PATIENCE)
    connection.request("GET", "/health")
    status = connection.getresponse().status
    connection.close()
    return status


@case
def tls_is_spoken_when_configured(place):
    certificate, key = make_certificate(place)
    server = place.server({"KSANA_TLS_CERTIFICATE": certificate, "KSANA_TLS_KEY": key}).start()
    equal(https_status(server, certificate), 200, "HTTPS")
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


@case(first=True)
def clients_that_end_no_handshake_are_cut(place):
    certificate, key = make_certificate(place)
    server = place.server({"KSANA_TLS_CERTIFICATE": certificate, "KSANA_TLS_KEY": key}).start()
    start = time.monotonic()
    mute = []
    for number in range(100):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        # Nothing, the beginning of a ClientHello, or the header of a very long one.
        connection.sendall((b"", b"\x16\x03", b"\x16\x03\x01\x40\x00\x01")[number % 3])
        mute.append(connection)
    equal(https_status(server, certificate), 200, "meanwhile")
    took = time.monotonic() - start
    check(took < 5, f"an answer took {took:.1f} s")
    for connection in mute:
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            pass
        connection.close()
    took = time.monotonic() - start
    check(took < 16, f"the last was cut after {took:.1f} s")
    equal(https_status(server, certificate), 200, "afterwards")
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
    job = {"id": "j", "name": "n", "type": "http", "schedule": {"kind": "every", "every": "1h"},
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
    # No header allows a browser to show the answer to another site.
    _, headers, _ = server.request("GET", "/jobs", None, {"Origin": "https://evil.example"})
    check(not any(name.lower().startswith("access-control") for name in headers), headers)
    equal(server.stop(), 0, "exit code")


if __name__ == "__main__":
    run_in_server_places(arguments("KSANA"))
