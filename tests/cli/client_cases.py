#!/usr/bin/env python3
"""The command line against servers that have much, speak TLS or go away: client_cases.py BINARY"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from ksana_server import Server, Target  # noqa: E402
from terminal import PATIENCE  # noqa: E402

BINARY = os.path.abspath(sys.argv.pop(1))
MANY = 520              # more than one page of a list


def ksana(url, *words, code=0, **variables):
    """What it prints; its exit code must be this."""
    done = subprocess.run([BINARY, *words], env={"KSANA_SERVER": url, **variables},
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == code, f"{words}: exit {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


class ClientCase(unittest.TestCase):
    def server(self, **environment):
        server = Server(BINARY, "sqlite", environment=environment)
        self.addCleanup(server.close)
        return server.start()

    def test_lists_and_changes_of_many_go_over_all_pages(self):
        server = self.server()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        for number in range(MANY):
            connection.request("POST", "/api/v1/jobs", json.dumps({
                "id": f"job-{number:04}", "name": "one of many", "group": "many",
                "http": {"url": "http://127.0.0.1:9/"}, "type": "http",
                "schedule": {"kind": "every", "every": "240h"}}))
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, 201)
        names = ksana(server.url, "job", "list", "--all", "-o", "name").split()
        self.assertEqual(names, [f"job-{number:04}" for number in range(MANY)])
        page = json.loads(ksana(server.url, "job", "list", "-n", "510", "-o", "json"))
        self.assertEqual(len(page["items"]), 510)
        self.assertIsNotNone(page["next_cursor"])
        self.assertEqual(ksana(server.url, "job", "pause", "--group", "many"),
                         f"paused {MANY} jobs\n")
        # Whoever has read enough may go.
        script = f"set -o pipefail; {BINARY} job list --all -o jsonl | head -n 1 >/dev/null"
        done = subprocess.run(["bash", "-c", script], env={"KSANA_SERVER": server.url,
                                                           "PATH": os.environ["PATH"]},
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertIn(done.returncode, (0, 141))        # 141: told by SIGPIPE
        self.assertEqual(done.stderr, "")
        error = ksana(server.url, "job", "delete", "--group", "many", code=2)
        self.assertIn(f"deletes {MANY} jobs", error)
        self.assertEqual(ksana(server.url, "job", "delete", "--group", "many", "--yes"),
                         f"deleted {MANY} jobs\n")
        self.assertEqual(ksana(server.url, "job", "list", "-o", "name"), "")

    def test_tls_with_a_certificate_of_our_own(self):
        folder = tempfile.TemporaryDirectory(prefix="ksana_tls_")
        self.addCleanup(folder.cleanup)
        certificate, key = (str(pathlib.Path(folder.name, name)) for name in ("cert", "key"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-keyout", key,
                        "-out", certificate, "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True,
                       capture_output=True)
        server = self.server(KSANA_TLS_CERTIFICATE=certificate, KSANA_TLS_KEY=key)
        url = f"https://127.0.0.1:{server.port}"
        self.assertEqual(ksana(url, "job", "list", "-o", "name", "--ca-file", certificate), "")
        self.assertIn("cannot reach " + url, ksana(url, "job", "list", code=6))
        ksana(server.url, "job", "list", code=6)        # plain HTTP is not spoken there

    def test_a_watch_outlives_a_restart_of_the_server(self):
        target = Target()
        self.addCleanup(target.close)
        server = self.server()
        server.call("POST", "/api/v1/jobs", {
            "id": "flaky", "name": "flaky", "type": "http",
            "http": {"url": target.url + "/flaky/1"},
            "schedule": {"kind": "every", "every": "240h"},
            "retry": {"strategy": "fixed", "max_retries": 5, "interval": "2s"}}, 201)
        run = server.call("POST", "/api/v1/jobs/flaky/run", {}, 202)["id"]
        watch = subprocess.Popen([BINARY, "run", "watch", run], env={"KSANA_SERVER": server.url},
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watch.stderr.close)
        self.addCleanup(watch.stdout.close)
        line = "begin"
        while line and "tried again" not in line:       # between its two attempts
            line = watch.stderr.readline()
        self.assertTrue(line, "it has ended")
        server.environment["PORT"] = str(server.port)
        server.stop()
        server.start()
        self.assertEqual(watch.wait(PATIENCE), 0, watch.stderr.read())
        self.assertIn("succeeded", watch.stdout.read())

    def test_a_server_that_does_not_answer_is_given_up(self):
        target = Target()
        self.addCleanup(target.close)
        error = ksana(target.url + "/hang", "job", "list", "--timeout", "300ms", code=124)
        self.assertIn("--timeout", error)


if __name__ == "__main__":
    unittest.main()
