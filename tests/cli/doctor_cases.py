#!/usr/bin/env python3
"""`ksana doctor` where things are well and where they are not.

usage: doctor_cases.py KSANA
"""
import json
import os
import pathlib
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "server"))
from ksana_server import Server  # noqa: E402

BINARY = os.path.abspath(sys.argv.pop(1))
# Without the variables of the tests, which are no settings of the program (./dev test --long).
CLEAN = {"PATH": os.environ["PATH"]}


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ksana_doctor_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_doctor(self, *words, descriptors=None, **variables):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        return subprocess.run([BINARY, "doctor", *words], cwd=self.folder, timeout=60, text=True,
                              capture_output=True, preexec_fn=limit if descriptors else None,
                              env={**CLEAN, "PORT": "0", **variables})

    def findings(self, *words, expect=0, **variables):
        """By the name of the check."""
        done = self.run_doctor("-o", "json", *words, **variables)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["healthy"], expect == 0)
        found = {item["check"]: item for item in answer["checks"]}
        for item in found.values():
            self.assertEqual(item["level"] == "ok", item["advice"] == "", item)
        return found

    def test_an_empty_folder_is_fine(self):
        found = self.findings()
        self.assertEqual(list(found), ["configuration", "store", "disk", "fsync", "port", "egress",
                                       "descriptors", "libcurl", "tzdata", "clock"])
        self.assertEqual(found["store"]["found"],
                         "sqlite:data/ksana.db: not there yet; the server makes it")
        self.assertEqual(os.listdir(self.folder), [], "looking leaves nothing behind")

    def test_as_text(self):
        done = self.run_doctor()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout,
                         r"(?m)^ok    configuration  no file, 1 of \d+ settings given$")
        self.assertRegex(done.stdout, r"\n\d+ ok, \d+ to look at, 0 failed\n$")

    def test_the_configuration_is_wrong(self):
        (self.folder / "ksana.toml").write_text("prot = 1\nworkers = 0\n")
        found = self.findings(expect=1)
        self.assertEqual(found["configuration"]["level"], "fail")
        self.assertIn("ksana.toml:1/prot", found["configuration"]["found"])
        self.assertIn("ksana.toml:2/workers", found["configuration"]["found"])
        self.assertEqual(list(found), ["configuration", "libcurl", "tzdata", "clock"])

    def test_the_folder_cannot_be(self):
        (self.folder / "file").write_text("")
        found = self.findings(expect=1, DATA_DIR="/proc/data")
        self.assertEqual(found["fsync"]["level"], "fail")

    def test_the_schema_is_old_or_too_new(self):
        data = self.folder / "data"
        data.mkdir()
        (data / "ksana.db").write_text("")
        self.assertEqual(self.findings()["store"]["level"], "warn")
        subprocess.run([BINARY, "migrate"], cwd=self.folder, check=True, capture_output=True,
                       env=CLEAN)
        self.assertRegex(self.findings()["store"]["found"], r"schema version \d+, the newest")
        database = sqlite3.connect(data / "ksana.db")
        with database:
            database.execute("INSERT INTO ksana_schema VALUES (999, 'later', 0)")
        database.close()
        store = self.findings(expect=1)["store"]
        self.assertEqual((store["level"], store["advice"]), ("fail", "use a newer program"))

    def test_the_store_is_not_there(self):
        before = time.monotonic()
        store = self.findings(expect=1, KSANA_STORE="postgresql://me:geheim@127.0.0.1:1/x")["store"]
        self.assertEqual(store["level"], "fail")
        self.assertNotIn("geheim", store["found"])
        self.assertLess(time.monotonic() - before, 30)

    def test_a_server_of_ours_has_the_port(self):
        server = Server(BINARY, "memory:").start()
        self.addCleanup(server.close)
        port = self.findings(PORT=str(server.port))["port"]
        self.assertEqual(port["found"],
                         f"127.0.0.1:{server.port}: a server answers and is ready")

    def test_another_program_has_the_port(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            before = time.monotonic()
            port = self.findings(PORT=str(deaf.getsockname()[1]))["port"]
            self.assertEqual(port["level"], "warn")
            self.assertLess(time.monotonic() - before, 20)
        files = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1",
                                  "0"], cwd=self.folder, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(files.__exit__, None, None, None)
        self.addCleanup(files.kill)
        number = files.stdout.readline().split(" port ")[1].split()[0]
        port = self.findings(expect=1, PORT=number)["port"]
        self.assertIn("in use by another program", port["found"])

    def test_too_few_descriptors(self):
        found = self.findings("--workers", "100", expect=1, descriptors=100)
        self.assertEqual(found["descriptors"]["level"], "fail")

    def test_files_that_the_settings_name(self):
        token = self.folder / "token"
        found = self.findings(expect=1, KSANA_API_TOKEN_FILE=str(token))
        self.assertEqual(found["token"]["level"], "fail")
        token.write_text("a" * 40 + "\n")
        token.chmod(0o644)
        self.assertEqual(self.findings(KSANA_API_TOKEN_FILE=str(token))["token"]["advice"],
                         f"chmod 600 {token}")
        token.chmod(0o600)
        self.assertEqual(self.findings(KSANA_API_TOKEN_FILE=str(token))["token"]["level"], "ok")
        token.write_text("short\n")
        self.findings(expect=1, KSANA_API_TOKEN_FILE=str(token))

    def test_libcurl_cannot_be_loaded(self):
        (self.folder / "libcurl.so.4").write_text("no library")
        libcurl = self.findings(LD_LIBRARY_PATH=str(self.folder))["libcurl"]
        self.assertEqual(libcurl["level"], "warn")
        self.assertIn("install libcurl4", libcurl["found"])

    def test_everything_may_be_called(self):
        egress = self.findings(KSANA_EGRESS_ALLOW="10.0.0.0/8,0.0.0.0/0")["egress"]
        self.assertEqual(egress["level"], "warn")


unittest.main()
