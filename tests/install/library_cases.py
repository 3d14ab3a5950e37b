#!/usr/bin/env python3
"""The installed library: what is installed, and programs that users build with it.

usage: library_cases.py CMAKE BUILD SOURCE PAGE EQUAL_IDS [CASE…]
       BUILD: the build folder; SOURCE: the sources; PAGE and EQUAL_IDS: files to compile
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import urllib.request

from installed import Installed, Program, run_command
from kit.cases import arguments, case, run
from kit.checks import check, contains, equal, lacks
from kit.waiting import wait_for

# What is installed besides headers.
FILES = {"lib/libksana.a", "lib/pkgconfig/ksana.pc", "lib/cmake/ksana/ksana-config.cmake",
         "lib/cmake/ksana/ksana-config-version.cmake", "lib/cmake/ksana/ksana-targets.cmake",
         "lib/cmake/ksana/ksana-targets-none.cmake", "lib/cmake/ksana/ksana_add_jobs.cmake"}


def redis():
    url = os.environ.get("KSANA_TEST_REDIS")
    check(url, "KSANA_TEST_REDIS names no server: tests/support/start_redis.sh FOLDER")
    return url


def fires_of(program):
    """Returns the times of the fires that a program of two_processes ran."""
    return [int(line.rpartition(" ")[2]) for line in program.out]


@case
def headers_are_those_that_the_public_ones_include(installed):
    include = installed.prefix / "include"
    there = {str(path.relative_to(include)) for path in include.rglob("*.hpp")}
    public = [f"ksana/{path.name}" for path in (installed.source / "include/ksana").glob("*.hpp")]
    reached, waiting = set(), list(public)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += re.findall(r'^#include "([^"]+)"',
                                  (include / name).read_text(encoding="utf-8"), re.M)
    equal(there, reached)
    check(len(public) > 5, public)


@case
def nothing_else_is_installed(installed):
    files = {str(path.relative_to(installed.prefix)) for path in installed.prefix.rglob("*")
             if path.is_file() and path.suffix != ".hpp"}
    equal(files, FILES)


@case
def no_path_of_the_build_machine_is_installed(installed):
    for name in FILES - {"lib/libksana.a"}:
        text = (installed.prefix / name).read_text(encoding="utf-8")
        for path in (installed.source, installed.build_folder, installed.first_prefix):
            lacks(str(path), text, name)


@case
def pkg_config_is_enough_for_the_page(installed):
    folder = installed.new_folder()
    page = pathlib.Path(installed.given.page).read_text(encoding="utf-8")
    contains('"redis://127.0.0.1:6379"', page)
    (folder / "page.cpp").write_text(page.replace("redis://127.0.0.1:6379", redis()),
                                     encoding="utf-8")
    run_command(["g++", "-std=c++20", "page.cpp", "-o", "page",
                 *installed.pkg_config("--cflags", "--libs", "--static")], cwd=folder)
    done = subprocess.run([folder / "page"], cwd=folder, capture_output=True, text=True,
                          timeout=60, check=False)
    equal((done.returncode, done.stdout), (0, "beat 0\nclean-expired-tokens 0\n"), done.stderr)
    contains("jobId=clean-expired-tokens", done.stderr)
    # Libraries that are loaded when they are needed are not linked.
    for library in ("curl", "pq", "mariadb", "hiredis"):
        lacks(f"-l{library}", installed.pkg_config("--libs", "--static"))


@case(variants=("bfd", "mold"))
def equal_ids_do_not_link(installed, linker):
    folder = installed.new_folder()
    flags = installed.pkg_config("--cflags", "--libs")
    for name, options in (("one", ["-DWITH_MAIN"]), ("two", [])):
        run_command(["g++", "-std=c++20", "-c", installed.given.equal_ids,
                     "-o", folder / f"{name}.o", *options, *flags])
    link = ["g++", f"-fuse-ld={linker}", "-o", "program"]
    run_command([*link, "one.o", *flags], cwd=folder)
    done = subprocess.run([*link, "one.o", "two.o", *flags], cwd=folder, capture_output=True,
                          text=True, check=False)
    check(done.returncode != 0, "it was linked")
    contains("JobWithThisIdIsDeclaredTwice", done.stderr)


@case
def jobs_of_a_static_library_stay(installed):
    folder = installed.build("tests/install/jobs_project")
    listed = run_command([folder / "program", "--list"])
    equal([line.split()[0] for line in listed.splitlines()],
          ["archive-job", "file-job", "object-job"])
    equal(run_command([folder / "plain", "--list"]), "", "without ksana_add_jobs")


@case(variants=("g++ 20", "clang++-19 23"))
def hello_says_hello(installed, variant):
    compiler, standard = variant.split()
    folder = installed.build("examples/library/hello", compiler,
                             f"-DCMAKE_CXX_STANDARD={standard}")
    with Program([folder / "hello"], folder) as program:
        program.wait(lambda: len(program.out) >= 2, "two lines")
        program.stop()
    times = [int(re.fullmatch(r"hello at (\d+)", line).group(1)) for line in program.out]
    equal(times[1] - times[0], 1000)


@case(first=True)
def the_service_serves(installed):
    project = installed.source / "examples/library/service"
    folder = installed.build("examples/library/service")
    run_command(["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error"])
    (folder / "jobs.conf").write_text((project / "jobs.conf").read_text(encoding="utf-8"),
                                      encoding="utf-8")
    with Program([folder / "service", "--http", "127.0.0.1:0"], folder) as program:
        program.wait(lambda: program.out, "a receipt")
        url = program.wait(lambda: re.search(r"ksana is ready.* url=(\S+)",
                                             "\n".join(program.log)), "the address").group(1)
        with urllib.request.urlopen(f"{url}/admin/job/list", timeout=30) as answer:
            jobs = {job["id"]: job for job in json.load(answer)}
        with urllib.request.urlopen(f"{url}/api/v1/jobs", timeout=30) as answer:
            equal({job["id"] for job in json.load(answer)["items"]}, set(jobs))
        program.stop()
    equal(program.out, ["mail: receipt of order 2"])
    equal(jobs["send-receipts"]["schedule"]["fixedRate"], 500, "rate of jobs.conf")
    equal(jobs["cancel-unpaid-orders"]["schedule"]["cron"], "*/5 * * * *")
    check((folder / "app.db").exists(), "the store is missing")


@case(first=True)
def a_worker_carries_out_tasks(installed):
    """examples/library/worker_cpp, against the API of the example `service`."""
    folder = installed.build("examples/library/worker_cpp")
    service = installed.build("examples/library/service")
    with Program([service / "service", "--http", "127.0.0.1:0"], service) as server:
        url = server.wait(lambda: re.search(r"ksana is ready.* url=(\S+)",
                                            "\n".join(server.log)), "the address").group(1)
        with Program(["env", f"KSANA_SERVER={url}", folder / "worker_cpp"], folder) as worker:
            worker.wait(lambda: "registered" in "\n".join(worker.log), "the registration")
            task = json.dumps({"type": "resize", "payload": {"width": 320}}).encode()
            request = urllib.request.Request(f"{url}/api/v1/runs", task,
                                             {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                run_id = json.load(answer)["id"]

            def shown():
                with urllib.request.urlopen(f"{url}/api/v1/runs/{run_id}", timeout=30) as answer:
                    return json.load(answer)

            wait_for(shown, lambda run: run["state"] == "succeeded", "the result")
            equal(shown()["result"], {"resized": {"width": 320}})
            worker.stop()
        server.stop()


@case(first=True)
def of_two_processes_one_runs_each_fire(installed):
    folder = installed.build("examples/library/two_processes")
    words = [folder / "two_processes", "--lock", redis()]

    def seen(program, count):
        return sum("job.started" in line or "job.skipped" in line for line in program.log) >= count

    with Program(words, folder) as one, Program(words, folder) as two:
        for program in (one, two):
            program.wait(lambda: seen(program, 3), "three fires")     # pylint: disable=W0640
        one.kill()
        ran = len(two.out)
        two.wait(lambda: len(two.out) >= ran + 2, "fires after the other process has ended")
        two.stop()
    fires = fires_of(one) + fires_of(two)
    equal(len(fires), len(set(fires)), f"different fires of {sorted(fires)}")
    # The kill may hit the third fire while it runs: two before it and two after it are certain.
    check(len(fires) >= 4, fires)


def main():
    given = arguments("CMAKE BUILD SOURCE PAGE EQUAL_IDS")
    with Installed(given) as installed:
        run(given, lambda one: contextlib.nullcontext(
            (installed, one.variant) if one.variant else installed), parallel=2)


if __name__ == "__main__":
    main()
