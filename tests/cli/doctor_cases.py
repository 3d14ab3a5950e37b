#!/usr/bin/env python3
"""`ksana doctor` on a healthy machine, and on machines with faults.

usage: doctor_cases.py KSANA [CASE…]
"""
import json
import os
import resource
import socket
import sqlite3
import subprocess
import sys
import time

from kit.cases import arguments, case, run
from kit.checks import check, contains, equal, lacks, matches
from kit.places import Place
from kit.server import Server

# Without the variables of ./dev test --long, which are no settings of the program.
CLEAN = {"PATH": os.environ["PATH"]}


class Doctor(Place):
    def open(self):
        self.folder = self.new_folder("ksana_doctor_")

    def run_doctor(self, *words, descriptors=None, **variables):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        return subprocess.run([self.given.ksana, "doctor", *words], cwd=self.folder, timeout=60,
                              text=True, capture_output=True, check=False,
                              preexec_fn=limit if descriptors else None,
                              env={**CLEAN, "PORT": "0", **variables})

    def findings(self, *words, expect=0, **variables):
        """Returns the findings by the name of the check."""
        done = self.run_doctor("-o", "json", *words, **variables)
        equal(done.returncode, expect, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        equal(answer["healthy"], expect == 0)
        found = {item["check"]: item for item in answer["checks"]}
        for item in found.values():
            equal(item["level"] == "ok", item["advice"] == "", item)
        return found

    @case
    def test_an_empty_folder_is_fine(self):
        found = self.findings()
        equal(list(found), ["configuration", "store", "disk", "fsync", "port", "egress",
                            "descriptors", "libcurl", "tzdata", "clock"])
        equal(found["store"]["found"],
              "sqlite:data/ksana.db: not there yet; the server makes it")
        equal(os.listdir(self.folder), [], "looking leaves nothing behind")

    @case
    def test_the_lock_server_is_asked(self):
        url = os.environ["KSANA_TEST_REDIS"]
        matches(self.findings(KSANA_LOCK=url)["lock"]["found"],
                r"redis://127\.0\.0\.1:\d+: answers \(.*\)")
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            dead = f"redis://:secret@127.0.0.1:{unused.getsockname()[1]}"
            found = self.findings(expect=1, KSANA_LOCK=dead)["lock"]
        equal(found["level"], "fail")
        lacks("secret", found["found"])

    @case
    def test_as_text(self):
        done = self.run_doctor()
        equal(done.returncode, 0, done.stdout)
        matches(done.stdout,
                r"(?m)^ok    configuration  no file, 1 of \d+ settings given$")
        matches(done.stdout, r"\n\d+ ok, \d+ to look at, 0 failed\n$")

    @case
    def test_the_configuration_is_wrong(self):
        (self.folder / "ksana.toml").write_text("prot = 1\nworkers = 0\n")
        found = self.findings(expect=1)
        equal(found["configuration"]["level"], "fail")
        contains("ksana.toml:1/prot", found["configuration"]["found"])
        contains("ksana.toml:2/workers", found["configuration"]["found"])
        equal(list(found), ["configuration", "libcurl", "tzdata", "clock"])

    @case
    def test_the_folder_cannot_be(self):
        (self.folder / "file").write_text("")
        found = self.findings(expect=1, DATA_DIR="/proc/data")
        equal(found["fsync"]["level"], "fail")

    @case
    def test_the_schema_is_old_or_too_new(self):
        data = self.folder / "data"
        data.mkdir()
        (data / "ksana.db").write_text("")
        equal(self.findings()["store"]["level"], "warn")
        subprocess.run([self.given.ksana, "migrate"], cwd=self.folder, check=True,
                       capture_output=True, env=CLEAN)
        matches(self.findings()["store"]["found"], r"schema version \d+, the newest")
        database = sqlite3.connect(data / "ksana.db")
        with database:
            database.execute("INSERT INTO ksana_schema VALUES (999, 'later', 0)")
        database.close()
        store = self.findings(expect=1)["store"]
        equal((store["level"], store["advice"]), ("fail", "use a newer program"))

    @case
    def test_the_store_is_not_there(self):
        before = time.monotonic()
        store = self.findings(expect=1, KSANA_STORE="postgresql://me:geheim@127.0.0.1:1/x")["store"]
        equal(store["level"], "fail")
        lacks("geheim", store["found"])
        check(time.monotonic() - before < 30, "it took too long")

    @case
    def test_a_server_of_ours_has_the_port(self):
        server = self.enter_context(Server(self.given.ksana, "memory:")).start()
        port = self.findings(PORT=str(server.port))["port"]
        equal(port["found"],
              f"127.0.0.1:{server.port}: a server answers and is ready")

    @case
    def test_another_program_has_the_port(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            before = time.monotonic()
            port = self.findings(PORT=str(deaf.getsockname()[1]))["port"]
            equal(port["level"], "warn")
            check(time.monotonic() - before < 20, "it took too long")
        files = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1",
                                  "0"], cwd=self.folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        self.push(files)
        self.callback(files.kill)
        number = files.stdout.readline().split(" port ")[1].split()[0]
        port = self.findings(expect=1, PORT=number)["port"]
        contains("in use by another program", port["found"])

    @case
    def test_too_few_descriptors(self):
        found = self.findings("--workers", "100", expect=1, descriptors=100)
        equal(found["descriptors"]["level"], "fail")

    @case
    def test_files_that_the_settings_name(self):
        token = self.folder / "token"
        found = self.findings(expect=1, KSANA_API_TOKEN_FILE=str(token))
        equal(found["token"]["level"], "fail")
        token.write_text("a" * 40 + "\n")
        token.chmod(0o644)
        equal(self.findings(expect=1, KSANA_API_TOKEN_FILE=str(token))["token"]["advice"],
              f"chmod 600 {token}")
        token.chmod(0o600)
        equal(self.findings(KSANA_API_TOKEN_FILE=str(token))["token"]["level"], "ok")
        token.write_text("short\n")
        self.findings(expect=1, KSANA_API_TOKEN_FILE=str(token))

    @case
    def test_libcurl_cannot_be_loaded(self):
        (self.folder / "libcurl.so.4").write_text("no library")
        libcurl = self.findings(LD_LIBRARY_PATH=str(self.folder))["libcurl"]
        equal(libcurl["level"], "warn")
        contains("install libcurl4", libcurl["found"])

    @case
    def test_everything_may_be_called(self):
        egress = self.findings(KSANA_EGRESS_ALLOW="10.0.0.0/8,0.0.0.0/0")["egress"]
        equal(egress["level"], "warn")


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda one: one.owner(given))
