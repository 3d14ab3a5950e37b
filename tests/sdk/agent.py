#!/usr/bin/env python3
"""The agent of the conformance cases, in Python: conformance.py describes the types.

usage: agent.py work TENANT JOURNAL CONCURRENCY LEASE GRACE
       agent.py client TENANT
"""
import json
import os
import signal
import sys

import ksana        # from sdk/python, by PYTHONPATH


def work(tenant, journal, concurrency, lease, grace):
    agent = ksana.Agent(worker="python", concurrency=int(concurrency), lease=float(lease), wait=10,
                        grace=float(grace), tenant=tenant)

    def note(*words):
        with open(journal, "a", encoding="utf-8") as file:
            file.write(" ".join(words) + "\n")

    def await_file(task, ends=lambda: False):
        while not os.path.exists(task.payload["file"]) and not ends():
            task.wait(0.02)

    @agent.handler("echo")
    def echo(task):
        return {"echo": task.payload, "attempt": task.attempt}

    @agent.handler("flaky")
    def flaky(task):
        task.log("about to fail" if task.attempt == 1 else "fine")
        if task.attempt == 1:
            raise ValueError("the first time")
        return "at last"

    @agent.handler("broken")
    def broken(task):
        raise ksana.Permanent("never")

    @agent.handler("nul")
    def nul(task):
        task.progress(10, "a\0b")
        task.log("c\0d")
        await_file(task)
        raise ksana.Permanent("e\0f")

    @agent.handler("after")
    def after(task):
        if task.attempt == 1:
            raise ksana.Retry(after=0.5, message="in a moment")

    @agent.handler("nap")
    def nap(task):
        if task.attempt == 1:
            raise ksana.Snooze(0.5)
        return "awake"

    @agent.handler("big")
    def big(task):
        return "x" * (2 << 20)

    @agent.handler("slow")
    def slow(task):
        task.wait(task.payload["seconds"])
        task.check()
        return "slow"

    @agent.handler("hold")
    def hold(task):
        task.progress(40, "page 4")
        task.log("holding")
        await_file(task, lambda: task.cancelled or task.lost)
        if task.cancelled or task.lost:
            note("cancelled" if task.cancelled else "lost", task.id)
        task.check()
        return "held"

    @agent.handler("last")
    def last(task):
        os.kill(os.getpid(), signal.SIGTERM)
        return "last"

    @agent.handler("stubborn")
    def stubborn(task):
        note("has", task.id)
        await_file(task)
        note("lost" if task.lost else "mine", task.id)
        return "late"

    note("ready", str(os.getpid()))
    agent.run()
    note("ended", str(os.getpid()))


def client(tenant):
    server = ksana.Client(patience=5)
    one = server.submit("echo", {"n": 1}, tenant=tenant)
    many = server.submit_many([{"type": "echo", "payload": number, "tenant": tenant}
                               for number in range(3)])
    later = server.submit("echo", tenant=tenant, delay=3600)
    server.cancel(later["id"])
    told = {"one": server.wait(one["id"], 20)["result"],
            "many": [server.wait(run["id"], 20)["result"]["echo"] for run in many],
            "cancelled": server.get(later["id"])["state"]}
    try:
        server.wait(server.submit("nobody", tenant=tenant)["id"], 0.1)
    except TimeoutError:
        told["waits"] = True
    try:
        server.submit("a/b", tenant=tenant, priority=12)
    except ksana.Error as error:
        told["refused"] = [error.status, error.code, "/priority" in str(error)]
    print(json.dumps(told))


if __name__ == "__main__":
    {"work": work, "client": client}[sys.argv[1]](*sys.argv[2:])
