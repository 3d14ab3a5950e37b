#!/usr/bin/env python3
"""Commands: the built server runs programs, and lets none of their processes survive.

usage: command_cases.py KSANA [CASE…]

Every case marks the processes of its commands by a long sleep of its own length, so that it finds
them whatever they have done to their environment, session and parents.
"""
import contextlib
import itertools
import json
import os
import pathlib
import pwd
import re
import subprocess
import tempfile

from kit.cases import arguments, case, run
from kit.checks import check, contains, equal, lacks
from kit.server import Server
from kit.usage import sleepers
from kit.waiting import stays_so, wait_for, wait_until

PARALLEL = 4
HOUR = {"kind": "every", "every": "1h"}
ONCE = {"strategy": "none"}
# How the guardian finds processes. Without a cgroup file system it goes by /proc alone.
BOTH_WAYS = ("cgroups", "proc")
WITHOUT_CGROUPS = ["unshare", "--mount", "sh", "-c", 'umount -l -a -t cgroup2; exec "$@"', "sh"]
MARKS = itertools.count(100_000 + os.getpid() % 10_000 * 100)


class Commands:
    """A server and its commands."""

    def __init__(self, server, variant):
        self.server, self.variant, self.mark = server, variant, str(next(MARKS))

    def create(self, job_id, argv, expect=201, shell=True, job=None, **command):
        argv = [argv] if isinstance(argv, str) else argv
        body = {"id": job_id, "name": job_id, "type": "command", "schedule": HOUR, "retry": ONCE,
                "overlap": "allow", "command": {"argv": argv, "shell": shell, **command},
                **(job or {})}
        return self.server.call("POST", "/api/v1/jobs", body, expect)

    def start(self, job_id, parameters=None):
        body = {"parameters": parameters} if parameters else {}
        return self.server.call("POST", f"/api/v1/jobs/{job_id}/run", body, 202)["id"]

    def run_of(self, run_id):
        return self.server.call("GET", f"/api/v1/runs/{run_id}")

    def end_of(self, run_id):
        """Waits for the end of a run, and returns it with the detail of its last attempt."""
        ended = wait_for(lambda: self.run_of(run_id), lambda one: "finished_at" in one,
                         "the run to end")
        return ended, ended["attempts"][-1].get("detail", {})

    def do(self, argv, parameters=None, **more):
        self.create("one", argv, **more)
        return self.end_of(self.start("one", parameters))

    def processes(self):
        """Returns the processes that sleep for the time of this case."""
        return sleepers(self.mark)

    def await_processes(self, count):
        wait_for(self.processes, lambda found: len(found) == count, f"{count} processes")

    def rest(self):
        """A line that leaves processes behind in every way: in the background, in a new session,
        as a daemon, and as a daemon without an environment."""
        sleep = f"sleep {self.mark}"
        return (f"{sleep} & setsid {sleep} & (setsid sh -c '{sleep} &') & "
                f"(setsid env -i sh -c '(setsid {sleep} &)') & ")


def memory_of(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", text).group(1)) * 1024


@case
def a_command_has_result_progress_log_and_detail(commands):
    commands.create("one", "echo begun; echo ::progress 40 half; while [ ! -e go ]; do sleep 0.01;"
                           " done; echo '{\"rows\": 7}' > $KSANA_RESULT_FILE; cat"
                           " $KSANA_PAYLOAD_FILE", working_directory=commands.server.folder)
    run_id = commands.start("one", {"table": "shop"})
    seen = wait_for(lambda: commands.run_of(run_id), lambda one: one["progress"] == 40,
                    "progress while it runs")
    equal(seen["progress_note"], "half")
    equal(seen["attempts"][-1]["detail"]["log"], ["begun"])
    (pathlib.Path(commands.server.folder) / "go").touch()
    ended, detail = commands.end_of(run_id)
    equal(ended["state"], "succeeded")
    equal(ended["result"], {"rows": 7})
    equal(detail["log"], ["begun", '{"table":"shop"}'])
    equal(detail["exit_code"], 0)
    equal(detail["output"], 'begun\n::progress 40 half\n{"table":"shop"}')
    check(detail["memory_bytes"] > 100_000, detail)


@case
def parameters_are_never_commands(commands):
    value = "; touch hacked $(touch hacked) `touch hacked` | '\"\n\\"
    _, detail = commands.do(["printf", "[%s]", "{{name}}", "x"], {"name": value}, shell=False,
                            working_directory=commands.server.folder)
    equal(detail["output"], f"[{value}][x]")
    commands.create("two", ["printf '[%s]' \"$1\"", "{{name}}"],
                    working_directory=commands.server.folder)
    _, detail = commands.end_of(commands.start("two", {"name": value}))
    equal(detail["output"], f"[{value}]")
    check(not (pathlib.Path(commands.server.folder) / "hacked").exists(), "a shell read it")
    problem = commands.create("three", "echo {{name}}", expect=400)
    contains("/command/argv/0", json.dumps(problem))


@case
def codes_that_are_permanent_are_not_tried_again(commands):
    again = {"strategy": "fixed", "max_retries": 2, "interval": "10ms"}
    line = "echo attempt $KSANA_ATTEMPT; exit $1"
    for job, code in (("final", "64"), ("again", "1")):
        commands.create(job, [line, code], permanent_exit_codes=[64], job={"retry": again})
    final, _ = commands.end_of(commands.start("final"))
    equal((final["state"], len(final["attempts"])), ("failed", 1))
    equal(final["last_error"], "exit code 64: attempt 1")
    tried, _ = commands.end_of(commands.start("again"))
    equal((tried["state"], len(tried["attempts"])), ("failed", 3))
    equal(tried["last_error"], "exit code 1: attempt 3")


@case
def a_missing_program_is_named_and_not_tried_again(commands):
    ended, _ = commands.do(["no-such-program"], shell=False, job={"retry": {"max_retries": 5}})
    equal((ended["state"], len(ended["attempts"])), ("failed", 1))
    equal(ended["last_error"], 'there is no program "no-such-program"')


@case(variants=BOTH_WAYS)
def what_a_command_leaves_behind_is_killed(commands):
    ended, detail = commands.do(commands.rest() + "sleep 0.2; echo done")
    equal(ended["state"], "succeeded")
    equal(detail["left_behind"], "processes that were killed")
    equal(commands.processes(), [], "processes")


@case(variants=BOTH_WAYS)
def a_cancel_stops_those_that_ignore_it(commands):
    line = "trap '' TERM; " + commands.rest() + f"echo ready; sleep {commands.mark}; sleep 600"
    commands.create("one", line, job={"stop_grace": "500ms"})
    run_id = commands.start("one")
    commands.await_processes(5)
    commands.server.call("POST", f"/api/v1/runs/{run_id}/cancel", {}, 202)
    ended, detail = commands.end_of(run_id)
    equal(ended["state"], "cancelled")
    equal(detail["signal"], "SIGKILL")
    equal(commands.processes(), [], "processes")


@case
def a_timeout_lets_a_command_end_itself(commands):
    ended, detail = commands.do("trap 'echo bye; exit 3' TERM; echo up; sleep 600 & wait",
                                job={"timeout": "300ms"})
    equal(ended["state"], "timed_out")
    equal(ended["last_error"], "timed out after 300ms: up\nbye")
    equal(detail["exit_code"], 3)


@case(variants=BOTH_WAYS)
def a_fork_bomb_stays_within_its_limit_and_dies(commands):
    # A user for each variant: the limit counts all processes of the user.
    user = {"cgroups": "daemon", "proc": "games"}[commands.variant]
    # The outer shell forks once, before the first explosion, and never again: it must not end
    # because there is no room for a process of its own.
    bomb = f"f() {{ f | f & }}; f 2>/dev/null & exec sleep {commands.mark}"
    ended, _ = commands.do(bomb, user=user, limits={"processes": 60},
                           job={"timeout": "1s", "stop_grace": "200ms"}, working_directory="/")
    equal(ended["state"], "timed_out")
    equal(commands.processes(), [], "processes")
    owner = pwd.getpwnam(user).pw_uid
    left = [one for one in pathlib.Path("/proc").glob("[0-9]*")
            if one.exists() and one.stat().st_uid == owner]
    equal(left, [], "processes of the user")


@case
def a_flood_of_output_costs_little(commands):
    before = memory_of(commands.server.process.pid)
    ended, detail = commands.do("echo first; yes | head -c 512M; echo last", job={"timeout": "60s"})
    equal(ended["state"], "succeeded")
    equal(detail["output_bytes"], 512 * 1024 ** 2 + 11)
    check(detail["output"].startswith("first\ny\n"), "the beginning")
    check(detail["output"].endswith("y\nlast\n"), "the end")
    contains(f"[{detail['left_out_bytes']} bytes left out]", detail["output"])
    check(len(json.dumps(detail)) < 300_000, "the detail")
    grown = memory_of(commands.server.process.pid) - before
    check(grown < 32 * 1024 ** 2, f"the server grew by {grown} bytes")


@case
def root_runs_a_command_as_another_user(commands):
    _, detail = commands.do("id -un; id -G; cat $KSANA_PAYLOAD_FILE; echo 1 > $KSANA_RESULT_FILE;"
                            " ls $(dirname $KSANA_PAYLOAD_FILE) 2>&1 | grep -c denied",
                            {"a": 1}, user="nobody", working_directory="/")
    equal(detail["output"], 'nobody\n65534\n{"a":1}1\n')


@case
def variables_and_descriptors_are_exactly_those_that_are_meant(commands):
    _, detail = commands.do("env | cut -d= -f1 | sort | tr '\\n' ' '; echo; for n in $(seq 3 99);"
                            " do test -L /proc/$$/fd/$n && echo $n; done; true",
                            environment={"MINE": "x"})
    names, descriptors = detail["output"].split("\n", 1)
    equal(names.split(), ["KSANA_ATTEMPT", "KSANA_EXEC_ID", "KSANA_FENCE", "KSANA_JOB_ID",
                          "KSANA_PAYLOAD_FILE", "KSANA_RESULT_FILE", "KSANA_RUN_ID", "MINE", "PATH",
                          "PWD", "TMPDIR", "TRACEPARENT"])
    equal(descriptors, "", "descriptors that leaked")
    lacks("KSANA_STORE", names)


@case(variants=BOTH_WAYS)
def a_killed_server_leaves_nothing_behind(commands):
    commands.create("one", "trap '' TERM; " + commands.rest() + f"sleep {commands.mark}; sleep 600")
    commands.start("one")
    commands.await_processes(5)
    commands.server.kill()
    wait_until(lambda: not commands.processes(), "all processes to be gone", within=5)
    wait_until(lambda: not list(pathlib.Path(commands.server.environment["TMPDIR"]).iterdir()),
               "the files to be gone", within=5)
    commands.server.start()


@case
def a_stopped_server_kills_what_does_not_stop(commands):
    commands.create("one", f"trap '' TERM; sleep {commands.mark}; sleep 600")
    run_id = commands.start("one")
    commands.await_processes(1)
    equal(commands.server.stop(), 0, "exit code")
    equal(commands.processes(), [], "processes")
    equal(list(pathlib.Path(commands.server.environment["TMPDIR"]).iterdir()), [], "files")
    commands.server.start()
    commands.await_processes(1)
    equal(commands.run_of(run_id)["failures"], 0, "a shutdown uses up no retry")
    commands.server.call("POST", f"/api/v1/runs/{run_id}/cancel", {}, 202)


@case
def the_command_line_makes_jobs_of_commands(commands):
    def ksana(*words):
        return subprocess.run([commands.server.binary, *words, "--server", commands.server.url],
                              capture_output=True, text=True, check=False)

    made = ksana("job", "create", "dump", "--command", "printf '%s|' 'a b' $HOME", "--cron",
                 "0 3 * * *", "--cwd", "/", "--env", "A=b", "-o", "json")
    equal(made.returncode, 0, made.stderr)
    job = json.loads(made.stdout)
    equal(job["command"]["argv"], ["printf", "%s|", "a b", "$HOME"])
    equal((job["command"]["working_directory"], job["command"]["environment"]), ("/", {"A": "b"}))
    _, detail = commands.end_of(commands.start("dump"))
    equal(detail["output"], "a b|$HOME|")
    made = ksana("job", "create", "--command", "echo $((1 + 1)) | cat", "--shell", "--every", "1h",
                 "-o", "json")
    job = json.loads(made.stdout)
    equal(job["name"], "echo $((1 + 1)) | cat")
    _, detail = commands.end_of(commands.start(job["id"]))
    equal(detail["output"], "2\n")
    refused = ksana("job", "create", "--command", "echo 'a", "--every", "1h")
    contains("a quote (') at character 6 that is not closed", refused.stderr)


@case(commands="false")
def without_the_setting_nothing_runs(commands):
    commands.create("one", "echo never > ran", working_directory=commands.server.folder)
    run_id = commands.start("one")
    stays_so(lambda: commands.run_of(run_id)["state"] == "queued", "the run waits", 0.5)
    check(not (pathlib.Path(commands.server.folder) / "ran").exists(), "it ran")


@contextlib.contextmanager
def place(one):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        server = Server(GIVEN.ksana, "memory:" if one.options.get("commands") else "sqlite",
                        wrapper=WITHOUT_CGROUPS if one.variant == "proc" else (),
                        environment={"KSANA_COMMANDS": one.options.get("commands", "true"),
                                     "TMPDIR": folder, "KSANA_SHUTDOWN_TIMEOUT": "0s"})
        with server:
            server.start()
            yield Commands(server, one.variant)
            equal(server.stop(), 0, "exit code")


if __name__ == "__main__":
    GIVEN = arguments("KSANA")
    run(GIVEN, place, PARALLEL)
