#!/usr/bin/python3
"""Tasks through RabbitMQ over a bad network, and while RabbitMQ takes consumers and messages away.

usage: broker_network_cases.py KSANA [CASE…]

Servers and workers reach the broker through a proxy (kit/tcp_proxy.py), with heartbeats of two
seconds; strangers reach it directly.
"""
import urllib.request

from kit.agent_client import submit
from kit.broker_place import BrokerPlace, OwnBrokerPlace, await_run, await_state, begin
from kit.cases import arguments, case, run
from kit.checks import check, contains, equal
from kit.tcp_proxy import DOWN, UP
from kit.waiting import wait_for

PARALLEL = 3
# A silence is noticed after two heartbeats without a frame; then come pauses and a publication.
NOTICED = 30


def read(server, path):
    with urllib.request.urlopen(server.url + path) as answer:
        return answer.read().decode()


def await_health(server, line, up):
    """Waits until /readyz and the metrics say so; the server stays ready."""
    wait_for(lambda: read(server, "/readyz?verbose"), lambda text: line in text, line, NOTICED)
    for link in ("publisher", "listener"):
        metric = f'ksana_broker_up{{link="{link}"}} {up}'
        wait_for(lambda: read(server, "/metrics"), lambda text: metric in text, metric, NOTICED)


def all_done_once(server, runs, by="w1/"):
    for run_id in runs:
        over = await_state(server.api, run_id, "succeeded", 60)
        equal(over["failures"], 0, "retries used up")
        done = [one for one in over["attempts"] if one["outcome"] == "succeeded"]
        equal(len(done), 1, "accepted results")
        check(over["owner"].startswith(by), over["owner"])


def many(server, count=10):
    return [submit(server.api)["id"] for _ in range(count)]


@case
def d11_a_network_that_is_cut_loses_nothing(place):
    proxy = place.behind_proxy()
    server = place.server()
    place.ready(server)
    place.worker(server, "--handler", "mail=true", "--slots", "4")
    runs = many(server)
    proxy.cut()
    await_health(server, "[!] broker failed", 0)
    runs += many(server)
    proxy.heal()
    await_health(server, "[+] broker ok", 1)
    runs += many(server)
    all_done_once(server, runs)


def silent(place, *directions):
    """Nothing arrives in these directions, and no connection ends: heartbeats must notice."""
    proxy = place.behind_proxy()
    server = place.server()
    place.ready(server)
    place.worker(server, "--handler", "mail=true", "--slots", "4")
    all_done_once(server, many(server))
    proxy.swallow(*directions)
    runs = many(server)
    await_health(server, "[!] broker failed", 0)
    runs += many(server)
    proxy.heal()
    await_health(server, "[+] broker ok", 1)
    all_done_once(server, runs)


@case
def d11_a_broker_that_is_not_heard_is_noticed(place):
    silent(place, DOWN)


@case
def d11_a_broker_that_does_not_hear_is_noticed(place):
    silent(place, UP)


@case
def d11_silence_in_both_directions_is_noticed(place):
    silent(place, UP, DOWN)


@case
def a_slow_network_is_no_fault(place):
    proxy = place.behind_proxy()
    proxy.delay(0.03)
    server = place.server()
    place.ready(server)
    place.worker(server, "--handler", "mail=true", "--slots", "4")
    all_done_once(server, many(server, 20))
    equal(server.log().count("no connection to the message broker"), 0, "connections lost")


# The work goes on behind a cut, and what it brings is told when the network is back.
@case
def a_worker_that_is_cut_off_tells_its_results_later(place):
    server = place.server()
    place.behind_proxy()
    go = place.folder / "go"
    worker = place.worker(server, "--handler",
                          f"mail=sh -c 'while [ ! -e {go} ]; do sleep 0.02; done'", "--slots", "2")
    runs = many(server, 2)
    for run_id in runs:
        await_run(server.api, run_id, lambda one: one.get("owner", "").startswith("w1/"), "begun")
    place.proxy.cut()
    lines = len(worker.lines)
    go.touch()
    worker.await_line("broker", after=lines)
    place.proxy.heal()
    for run_id in runs:
        equal(await_state(server.api, run_id, "succeeded")["attempt"], 1)


@case
def a_consumer_that_the_broker_cancels_begins_again(place):
    """A user deletes the queues while the server and a worker consume them."""
    server, queues = place.server(), place.queues()
    place.worker(server, "--handler", "mail=true", "--slots", "2")
    all_done_once(server, many(server, 2))
    for kind in ("status", "tasks"):
        queues.ask(lambda channel: channel.queue_delete(queues.name(kind)))
    all_done_once(server, many(server, 5))


def expect_soon(broker):
    """RabbitMQ closes the channel of a consumer that has held a message for two seconds. It looks
    once a minute unless it is told otherwise."""
    broker.ctl("eval", "application:set_env(rabbit, consumer_timeout, 2000), "
                       "application:set_env(rabbit, channel_tick_interval, 500).")


@case(own=True)
def a_message_that_is_held_too_long_goes_to_another_consumer(place):
    expect_soon(place.broker)
    server, slow, queues = place.server(), place.queues(), place.queues()
    run_id = submit(server.api)["id"]
    queues.await_depth(1)
    slow.channel.basic_qos(prefetch_count=1)
    held = next(slow.channel.consume(slow.name(), inactivity_timeout=30))
    check(held[0] is not None, "a message")
    message = queues.task(within=60)
    equal(message["run_id"], run_id)
    queues.tell(message, "RUNNING", "quick")
    queues.tell(message, "COMPLETED", "quick", result=1)
    over = await_state(server.api, run_id, "succeeded")
    equal((over["owner"], over["attempt"], over["failures"]), ("quick", 1, 0))


@case(own=True)
def neither_server_nor_worker_holds_a_message_too_long(place):
    """They acknowledge before the work: it may take longer than RabbitMQ waits."""
    expect_soon(place.broker)
    server = place.server()
    place.worker(server, "--handler", "mail=sleep 5", "--slots", "1", "--lease", "2s")
    runs = many(server, 2)
    for run_id in runs:
        over = await_state(server.api, run_id, "succeeded", 60)
        equal((over["attempt"], over["failures"]), (1, 0))
    equal(server.log().count("no connection to the message broker"), 0, "connections lost")


@case
def a_consumer_that_says_everything_twice_late_and_in_disorder(place):
    server, queues = place.server(), place.queues()
    first, message = begin(place, server, queues)
    second = submit(server.api, retry={"strategy": "none"})["id"]
    other = queues.task()
    # The second one ends before it begins, then fails, then begins; the first succeeds twice.
    queues.tell(other, "COMPLETED", result="two")
    queues.tell(message, "COMPLETED", result="one")
    queues.tell(other, "FAILED", error="after all")
    queues.tell(other, "RUNNING", lease="1s")
    queues.tell(message, "COMPLETED", result="one")
    queues.tell(message, "HEARTBEAT", lease="1s")
    queues.tell(message, "RELEASED")
    queues.await_depth(0, "status")
    for run_id, result in ((first, "one"), (second, "two")):
        over = await_state(server.api, run_id, "succeeded")
        equal((over["result"], over["attempt"], len(over["attempts"])), (result, 1, 1))


@case
def a_duplicate_of_a_message_that_was_published_again_changes_nothing(place):
    """The message of an attempt that was given up comes again after its successor has begun."""
    server, queues = place.server(broker_wait="1s"), place.queues()
    run_id = submit(server.api)["id"]
    old = queues.task()                     # taken, and never begun
    again = queues.task()
    equal((again["run_id"], again["attempt"]), (run_id, 2))
    queues.tell(again, "RUNNING", "right")
    queues.send(old, "tasks")               # by whoever keeps messages
    duplicate = queues.task()
    queues.listen("wrong")
    queues.tell(duplicate, "RUNNING", "wrong")
    equal(queues.task("worker.wrong")["directive"], "cancel")
    queues.tell(duplicate, "COMPLETED", "wrong", result="wrong")
    queues.tell(again, "COMPLETED", "right", result="right")
    over = await_state(server.api, run_id, "succeeded")
    equal((over["result"], over["owner"], over["failures"]), ("right", "right", 0))


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda one: (OwnBrokerPlace if one.options.get("own") else BrokerPlace)(given),
        PARALLEL)
