#!/usr/bin/env python3
"""Calls and callbacks over TLS: which certificates are trusted, and what is said of the others.

usage: tls_cases.py KSANA [CASE…]      Needs the program openssl.
"""
import http.server
import ssl
import subprocess
import threading

from kit.cases import arguments, case
from kit.checks import check, equal
from kit.places import run_in_server_places
from kit.waiting import wait_for
from kit.worker_process import WorkerProcess

INVALID = 2
CONFIG = """[ca]
default_ca = here
[here]
dir = {folder}
database = {folder}/index
new_certs_dir = {folder}
certificate = {folder}/ca.pem
private_key = {folder}/ca.key
serial = {folder}/serial
default_md = sha256
default_days = 2
default_crl_days = 2
policy = names
copy_extensions = copy
unique_subject = no
[names]
commonName = supplied
"""
KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


class Authority:
    """Issues certificates, and takes them back."""

    def __init__(self, folder, name):
        self.folder = folder / name
        self.folder.mkdir()
        (self.folder / "index").touch()
        (self.folder / "serial").write_text("01\n", encoding="ascii")
        (self.folder / "config").write_text(CONFIG.format(folder=self.folder), encoding="ascii")
        openssl("req", "-x509", *KEY, "-keyout", self.folder / "ca.key", "-out", self.file,
                "-days", 2, "-subj", f"/CN={name}")

    @property
    def file(self):
        return self.folder / "ca.pem"

    def do(self, *words):
        openssl("ca", "-config", self.folder / "config", "-batch", *words)

    def issue(self, name, subject="IP:127.0.0.1", *more):
        """Returns the files of certificate and key."""
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        openssl("req", "-new", *KEY, "-keyout", key, "-out", self.folder / f"{name}.csr",
                "-subj", f"/CN={name}", "-addext", f"subjectAltName={subject}")
        self.do("-notext", "-in", self.folder / f"{name}.csr", "-out", certificate, *more)
        return certificate, key

    def revoked(self, *certificates):
        for certificate in certificates:
            self.do("-revoke", certificate)
        self.do("-gencrl", "-out", self.folder / "crl.pem")
        return self.folder / "crl.pem"


def self_signed(folder):
    certificate, key = folder / "own.pem", folder / "own.key"
    openssl("req", "-x509", *KEY, "-keyout", key, "-out", certificate, "-days", 2, "-subj",
            "/CN=own", "-addext", "subjectAltName=IP:127.0.0.1")
    return certificate, key


class Receiver(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.paths.append(self.path)
        self.send_response(204)
        self.end_headers()


class TlsServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass        # a client that refuses the certificate


def receiver(place, certificate, key):
    """Returns a server with this certificate; it ends with the place."""
    server = TlsServer(("127.0.0.1", 0), Receiver)
    server.paths = []
    server.url = f"https://127.0.0.1:{server.server_port}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place.callback(server.server_close)
    place.callback(server.shutdown)
    return server


def ended(server, job_id, url, **more):
    """Calls the URL once, and returns the run at its end."""
    server.call("POST", "/api/v1/jobs", {
        "id": job_id, "name": job_id, "retry": {"strategy": "none"},
        "schedule": {"kind": "once", "run_at": "2100-01-01T00:00:00Z"},
        "http": {"method": "POST", "url": url}, **more}, 201)
    run_id = server.call("POST", f"/api/v1/jobs/{job_id}/run", {}, 202)["id"]
    return wait_for(lambda: server.call("GET", f"/api/v1/runs/{run_id}"),
                    lambda run: run["state"] in ("succeeded", "failed"), f"the end of {job_id}")


@case
def a_private_authority_is_trusted_by_calls_and_callbacks(place):
    authority = Authority(place.folder, "ours")
    target = receiver(place, *authority.issue("good"))
    trusting = place.server({"KSANA_TLS_CA_FILE": str(authority.file)}).start()
    equal(ended(trusting, "call", target.url + "/call")["state"], "succeeded", "a call")
    trusting.call("POST", "/api/v1/types", {"code": "t", "callbacks": {
        "success": {"url": target.url + "/callback", "method": "POST"}}}, 201)
    trusting.call("POST", "/api/v1/runs", {"type": "t"}, 201)
    run, = trusting.call("POST", "/api/v1/agent/claim", {"worker": "w", "types": ["t"]})["runs"]
    trusting.call("POST", f"/api/v1/agent/runs/{run['run_id']}/succeed",
                  {"exec_id": run["exec_id"]}, 204)
    wait_for(lambda: trusting.call("GET", f"/api/v1/runs/{run['run_id']}"),
             lambda shown: shown["state"] == "succeeded", "the callback")
    equal(target.paths, ["/call", "/callback"], "what came")
    failed = ended(place.server().start(), "call", target.url + "/call")
    check("unable to get local issuer certificate" in failed["last_error"], failed["last_error"])


@case
def each_wrong_certificate_is_refused_with_its_fault(place):
    ours, others = Authority(place.folder, "ours"), Authority(place.folder, "others")
    past = ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z")
    future = ("-startdate", "20900101000000Z", "-enddate", "20900201000000Z")
    server = place.server({"KSANA_TLS_CA_FILE": str(ours.file)}).start()
    wrong = {
        "expired": (ours.issue("expired", "IP:127.0.0.1", *past), "certificate has expired"),
        "future": (ours.issue("future", "IP:127.0.0.1", *future), "certificate is not yet valid"),
        "host": (ours.issue("host", "IP:127.0.0.9"), "no alternative certificate subject name"),
        "own": (self_signed(place.folder), "self-signed certificate"),
        "stranger": (others.issue("stranger"), "unable to get local issuer certificate")}
    for name, (files, fault) in wrong.items():
        target = receiver(place, *files)
        run = ended(server, name, target.url)
        where = target.url.removeprefix("https://")
        check(run["last_error"].startswith(f"no TLS connection to {where}: ") and
              fault in run["last_error"], f"{name}: {run['last_error']}")
        equal((run["state"], run["detail"]["error_kind"]), ("failed", "tls"), name)
        equal(target.paths, [], f"{name}: nothing was sent")


@case
def a_revoked_certificate_is_refused(place):
    authority = Authority(place.folder, "ours")
    good, taken = authority.issue("good"), authority.issue("taken")
    lists = authority.revoked(taken[0])
    server = place.server({"KSANA_TLS_CA_FILE": str(authority.file),
                           "KSANA_TLS_CRL_FILE": str(lists)}).start()
    equal(ended(server, "good", receiver(place, *good).url)["state"], "succeeded", "the other one")
    run = ended(server, "taken", receiver(place, *taken).url)
    check("certificate revoked" in run["last_error"], run["last_error"])


@case
def workers_trust_the_authority_that_they_are_told(place):
    authority = Authority(place.folder, "ours")
    target = receiver(place, *authority.issue("good"))
    server = place.server().start()
    worker = WorkerProcess(place.binary, [server], "--labels", "zone=a", "--tls-ca-file",
                           str(authority.file)).await_registered()
    try:
        run = ended(server, "far", target.url + "/far", placement={"require": {"zone": "a"}})
        equal((run["state"], run["owner"].split("/")[0]), ("succeeded", "w1"), "by the worker")
        wrong = subprocess.run([place.binary, "worker", "--server", server.url, "--tls-ca-file",
                                "/no/such"], capture_output=True, text=True, timeout=30,
                               check=False)
        equal(wrong.returncode, INVALID, wrong.stderr)
        check("tls_ca_file: /no/such cannot be read" in wrong.stderr, wrong.stderr)
    finally:
        worker.kill()


@case
def files_that_cannot_be_used_are_refused_at_the_start(place):
    empty = place.file("empty.pem", "nothing\n")
    authority = Authority(place.folder, "ours")
    for settings, parts in [
            ({"KSANA_TLS_CA_FILE": "/no/such"}, ("tls_ca_file", "/no/such")),
            ({"KSANA_TLS_CA_FILE": empty}, ("tls_ca_file", empty, "BEGIN CERTIFICATE")),
            ({"KSANA_TLS_CRL_FILE": empty}, ("TLS_CRL_FILE", "tls_ca_file")),
            ({"KSANA_TLS_CA_FILE": str(authority.file), "KSANA_TLS_CRL_FILE": empty},
             ("tls_crl_file", empty, "BEGIN X509 CRL"))]:
        code, text = place.refusal(settings)
        equal(code, INVALID, text)
        for part in parts:
            check(part in text, f"{part!r} is not in: {text}")


if __name__ == "__main__":
    run_in_server_places(arguments("KSANA"))
