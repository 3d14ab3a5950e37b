#!/usr/bin/env python3
"""The command line against servers with many jobs, with TLS, and with restarts.

usage: client_cases.py KSANA [CASE…]
"""
import http.client
import json
import os
import subprocess

from kit.cases import arguments, case, run
from kit.checks import check, contains, equal
from kit.places import Place
from kit.server import Server
from kit.targets import Target
from kit.waiting import PATIENCE

MANY = 520              # more than one page of a list


class ClientCase(Place):
    def ksana(self, url, *words, code=0, **variables):
        """Runs the program and returns its output. The exit code must be `code`."""
        done = subprocess.run([self.given.ksana, *words], env={"KSANA_SERVER": url, **variables},
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        equal(done.returncode, code, f"exit code of {words}: {done.stdout}{done.stderr}")
        return done.stdout if code == 0 else done.stderr

    def server(self, **environment):
        return self.enter_context(Server(self.given.ksana, "sqlite",
                                         environment=environment)).start()

    @case
    def test_lists_and_changes_of_many_go_over_all_pages(self):
        server = self.server()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        self.callback(connection.close)
        for number in range(MANY):
            connection.request("POST", "/api/v1/jobs", json.dumps({
                "id": f"job-{number:04}", "name": "one of many", "group": "many",
                "http": {"url": "http://127.0.0.1:9/"}, "type": "http",
                "schedule": {"kind": "every", "every": "240h"}}))
            answer = connection.getresponse()
            answer.read()
            equal(answer.status, 201)
        names = self.ksana(server.url, "job", "list", "--all", "-o", "name").split()
        equal(names, [f"job-{number:04}" for number in range(MANY)])
        page = json.loads(self.ksana(server.url, "job", "list", "-n", "510", "-o", "json"))
        equal(len(page["items"]), 510)
        check(page["next_cursor"] is not None, "there is no next page")
        equal(self.ksana(server.url, "job", "pause", "--group", "many"),
              f"paused {MANY} jobs\n")
        # A reader may close the pipe early.
        script = (f"set -o pipefail; {self.given.ksana} job list --all -o jsonl | "
                  "head -n 1 >/dev/null")
        done = subprocess.run(["bash", "-c", script], env={"KSANA_SERVER": server.url,
                                                           "PATH": os.environ["PATH"]},
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        contains(done.returncode, (0, 141))        # 141: ended by SIGPIPE
        equal(done.stderr, "")
        error = self.ksana(server.url, "job", "delete", "--group", "many", code=2)
        contains(f"deletes {MANY} jobs", error)
        equal(self.ksana(server.url, "job", "delete", "--group", "many", "--yes"),
              f"deleted {MANY} jobs\n")
        equal(self.ksana(server.url, "job", "list", "-o", "name"), "")

    @case
    def test_tls_with_a_certificate_of_our_own(self):
        folder = self.new_folder("ksana_tls_")
        certificate, key = (str(folder / name) for name in ("cert", "key"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-keyout", key,
                        "-out", certificate, "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True,
                       capture_output=True)
        server = self.server(KSANA_TLS_CERTIFICATE=certificate, KSANA_TLS_KEY=key)
        url = f"https://127.0.0.1:{server.port}"
        equal(self.ksana(url, "job", "list", "-o", "name", "--ca-file", certificate), "")
        contains("cannot reach " + url, self.ksana(url, "job", "list", code=6))
        self.ksana(server.url, "job", "list", code=6)  # the server does not accept plain HTTP there

    @case
    def test_a_watch_outlives_a_restart_of_the_server(self):
        target = self.enter_context(Target())
        server = self.server()
        server.call("POST", "/api/v1/jobs", {
            "id": "flaky", "name": "flaky", "type": "http",
            "http": {"url": target.url + "/flaky/1"},
            "schedule": {"kind": "every", "every": "240h"},
            "retry": {"strategy": "fixed", "max_retries": 5, "interval": "2s"}}, 201)
        run = server.call("POST", "/api/v1/jobs/flaky/run", {}, 202)["id"]
        watch = subprocess.Popen([self.given.ksana, "run", "watch", run],
                                 env={"KSANA_SERVER": server.url}, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.callback(watch.stderr.close)
        self.callback(watch.stdout.close)
        line = "begin"
        while line and "tried again" not in line:       # between the two attempts
            line = watch.stderr.readline()
        check(line, "it has ended")
        server.environment["PORT"] = str(server.port)
        server.stop()
        server.start()
        equal(watch.wait(PATIENCE), 0, watch.stderr.read())
        contains("succeeded", watch.stdout.read())

    @case
    def test_a_server_that_does_not_answer_is_given_up(self):
        target = self.enter_context(Target())
        error = self.ksana(target.url + "/hang", "job", "list", "--timeout", "300ms", code=124)
        contains("--timeout", error)


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda one: one.owner(given))
