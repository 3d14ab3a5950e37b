#!/usr/bin/env python3
"""Servers of two versions on one PostgreSQL: a cluster of a former version is replaced by this one,
server by server, while jobs fire and agents take tasks.

usage: upgrade_cases.py KSANA BEFORE [CASE…]

BEFORE is `ksana` of the former version. `./dev upgrade REVISION` builds it and runs this suite.
"""
from cluster import NodesPlace, beats, check_fires, stop_firing
from kit.agent_client import claim, show, submit, tell
from kit.cases import arguments, case, run
from kit.checks import equal
from kit.waiting import wait_until

JOBS = 8


class UpgradePlace(NodesPlace):
    def before(self, name):
        return self.node(name, binary=self.given.before)

    def fires_go_on(self, count=60):
        known = len(self.target.calls)
        wait_until(lambda: len(self.target.calls) > known + count, "fires go on")


def tasks_cross(*servers):
    """A task submitted on each server is claimed and ended on each other one."""
    for giver in servers:
        for taker in servers:
            given = submit(giver, "cross")["id"]
            taken, = claim(taker, types=["cross"], wait="10s")
            equal(taken["run_id"], given, "the claimed task")
            tell(taker, taken, "succeed", result={"n": 1})
            equal(show(giver, given)["state"], "succeeded", "state of the task")


@case
def servers_are_replaced_one_by_one(place):
    old = [place.before("n1"), place.before("n2")]
    beats(place, old[0], JOBS)
    place.fires_go_on()
    new = place.node("n3")                  # migrates the schema under the two others
    place.fires_go_on()
    tasks_cross(old[0], old[1], new)
    for server in old:
        equal(server.stop(), 0, "exit code")
        place.fires_go_on()
        server.binary = place.given.ksana
        server.start()
        place.fires_go_on()
    tasks_cross(*old, new)
    stop_firing(new, JOBS)
    check_fires(place.target, JOBS)


# A server of a version without nodes shows that it lives by its leases only, of 30 s.
@case
def a_killed_server_is_replaced_by_one_of_another_version(place):
    _, owner, _ = place.hanging_run([place.before("n1"), place.node("n2")])
    owner.kill()
    wait_until(lambda: len(place.target.of("/hang")) > 1, "the run to start elsewhere", within=60)


def main():
    given = arguments("KSANA BEFORE")
    run(given, lambda _: UpgradePlace(given), 2)


if __name__ == "__main__":
    main()
