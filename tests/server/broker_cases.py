#!/usr/bin/python3
"""Tasks through RabbitMQ: the servers publish, strangers and `ksana worker` consume (document D).

usage: broker_cases.py KSANA CONSUMER [CASE…]      CONSUMER: examples/rabbitmq/consumer.py

Each case has queues with a prefix of its own; those that break the broker have their own broker.
"""
import os
import subprocess
import urllib.request

from kit.agent_client import CLAIM, show, submit
from kit.broker_place import BrokerPlace, OwnBrokerPlace, await_run, await_state, begin, cancel
from kit.cases import arguments, case, run
from kit.checks import check, contains, equal
from kit.dispatcher_client import Dispatcher
from kit.postgres import store_of
from kit.targets import Target
from kit.waiting import stays_so, wait_for

PARALLEL = 3
RETRY_AT_ONCE = {"strategy": "fixed", "max_retries": 2, "interval": "10ms"}


@case(own=True)
def d01_d02_d03_a_strangers_consumer_of_thirty_lines(place):
    server = place.server()
    done = subprocess.Popen(["/usr/bin/python3", place.given.consumer, place.url, "python"])
    place.callback(lambda: (done.kill(), done.wait()))
    good = submit(server.api, kind="sum", payload=[1, 2, 3])["id"]
    bad = submit(server.api, kind="sum", payload=["a"], retry={"strategy": "none"})["id"]
    over = await_state(server.api, good, "succeeded")
    equal((over["result"], over["owner"], over["attempt"]), ({"sum": 6}, "python", 1))
    contains("TypeError", await_state(server.api, bad, "failed")["last_error"])


# The words of document D, from PENDING over DISPATCHED to the end, and its retry.
@case
def d01_d02_d08_a_task_of_document_d(place):
    server, queues = place.server(), place.queues()
    api = Dispatcher(server)
    task = api.create(name="nightly", schedule="0 0 1 1 *", type="sum", params={"n": 4},
                      timeout=30, max_retries=1, base_interval=1)
    execution = api.trigger(task["id"])
    message, properties = queues.take()
    equal(message["payload"], {"n": 4})
    equal((message["type"], message["attempt"], properties.delivery_mode), ("sum", 1, 2))
    api.until(execution, "DISPATCHED")
    queues.tell(message, "RUNNING", "d-worker")
    begun = api.until(execution, "RUNNING")
    equal(begun["worker_id"], "d-worker")
    queues.tell(message, "FAILED", "d-worker", error="no paper")
    again = queues.task()
    equal((again["run_id"], again["attempt"]), (message["run_id"], 2))
    check(again["exec_id"] != message["exec_id"] and again["fence"] > message["fence"], "fresh")
    queues.tell(again, "RUNNING", "d-worker")
    queues.tell(again, "COMPLETED", "d-worker", result={"sum": 4})
    executions = api.await_executions(task["id"], lambda all_: sorted(
        one["status"] for one in all_) == ["COMPLETED", "FAILED"], "both executions over")
    equal(sorted(one["retry_count"] for one in executions), [0, 1])
    failed = next(one for one in executions if one["status"] == "FAILED")
    equal(failed["error"], "no paper")


@case
def d01_d02_a_task_that_is_not_published_is_pending(place):
    server, queues = place.server(broker_queue_length="1"), place.queues()
    api = Dispatcher(server)
    task = api.create(name="nightly", schedule="0 0 1 1 *", type="sum")
    first, second = api.trigger(task["id"]), api.trigger(task["id"])
    api.until(first, "DISPATCHED")
    stays_so(lambda: api.execution(task["id"], second["id"])["status"] == "PENDING", "it waits",
             0.3)
    equal(api.execution(task["id"], first["id"])["start_time"], None)
    queues.task()
    api.until(second, "DISPATCHED")


@case
def d04_a_timeout_ends_it_and_a_late_result_changes_nothing(place):
    server, queues = place.server(), place.queues()
    queues.listen("slow")
    run_id, message = begin(place, server, queues, "slow", timeout="300ms",
                            retry={"strategy": "none"})
    await_state(server.api, run_id, "timed_out")
    queues.tell(message, "COMPLETED", "slow", result=1)
    queues.tell(message, "HEARTBEAT", "slow")
    told = queues.task("worker.slow")
    equal((told["run_id"], told["exec_id"], told["directive"]),
          (run_id, message["exec_id"], "cancel"))
    equal(show(server.api, run_id)["state"], "timed_out")


@case
def d16_ten_thousand_messages_come_by_priority(place):
    server, queues = place.server(), place.queues()
    count, batch = 10_000, 1_000
    for start in range(0, count, batch):
        tasks = [{"type": "mail", "priority": (7 * n) % 10} for n in range(start, start + batch)]
        server.api.call("POST", "/api/v1/runs/batch", {"runs": tasks}, 200)
    wait_for(queues.depth, lambda now: now == count, "all in the queue", 60)
    seen = []
    for _, properties, body in queues.channel.consume(queues.name(), auto_ack=True):
        seen.append((properties.priority, body))
        if len(seen) == count:
            break
    priorities = [priority for priority, _ in seen]
    equal(priorities, sorted(priorities, reverse=True), "order")
    equal(priorities.count(9), count // 10)
    equal(len({body for _, body in seen}), count, "different tasks")


@case
def a_message_that_comes_twice_has_one_owner(place):
    server, queues = place.server(), place.queues()
    queues.listen("second")
    run_id, message = begin(place, server, queues, "first")
    queues.tell(message, "RUNNING", "second")
    equal(queues.task("worker.second")["directive"], "cancel")
    queues.tell(message, "COMPLETED", "second", result="of a stranger")
    queues.tell(message, "COMPLETED", "first", result="right")
    equal(await_state(server.api, run_id, "succeeded")["result"], "right")


@case
def messages_that_overtake_each_other(place):
    server, queues = place.server(), place.queues()
    run_id = submit(server.api)["id"]
    message = queues.task()
    queues.tell(message, "COMPLETED", result=5)
    over = await_state(server.api, run_id, "succeeded")
    equal((over["result"], over["owner"]), (5, "c1"))
    queues.tell(message, "RUNNING")
    queues.await_depth(0, "status")
    equal(show(server.api, run_id)["state"], "succeeded")


@case
def g04_a_cancel_reaches_the_consumer(place):
    server, queues = place.server(), place.queues()
    queues.listen("c1")
    run_id, message = begin(place, server, queues)
    cancel(server, run_id)
    told = queues.task("worker.c1")
    equal((told["run_id"], told["directive"]), (run_id, "cancel"))
    queues.tell(message, "RELEASED")
    await_state(server.api, run_id, "cancelled")


@case
def a_cancel_of_a_task_in_the_queue_needs_no_consumer(place):
    server, queues = place.server(), place.queues()
    queues.listen("c1")
    run_id = submit(server.api)["id"]
    queues.await_depth(1)
    cancel(server, run_id)
    await_state(server.api, run_id, "cancelled")
    queues.tell(queues.task(), "RUNNING")
    equal(queues.task("worker.c1")["directive"], "cancel")
    equal(show(server.api, run_id)["state"], "cancelled")


@case
def what_nobody_can_read_goes_to_the_dead_letters(place):
    server, queues = place.server(), place.queues()
    run_id, message = begin(place, server, queues)
    for bad in ("{", '{"status":"DONE"}', b"\xff\xfe", "[]", '{"run_id":"x"}'):
        queues.send(bad)
    queues.tell(message, "COMPLETED", result=1)
    await_state(server.api, run_id, "succeeded")
    queues.await_depth(5, "dead")
    server.await_line("a status message cannot be read")


@case
def categories_have_queues_and_labels_stay_with_the_servers(place):
    server, queues = place.server(broker_categories="mail,print:jobs"), place.queues()
    mail = submit(server.api, category="mail")["id"]
    spaced = submit(server.api, category="print:jobs")["id"]
    other = submit(server.api, category="other")["id"]
    labelled = submit(server.api, category="mail", selector={"zone": "a"})["id"]
    equal(queues.task("tasks.mail")["run_id"], mail)
    equal(queues.task("tasks.print:jobs")["run_id"], spaced)
    wish = {"worker": "w", "labels": {"zone": "a"}, "max": 10}
    runs = server.api.call("POST", CLAIM, wish)["runs"]
    equal({one["run_id"] for one in runs}, {other, labelled})


@case
def explain_and_health_name_the_broker(place):
    server, queues = place.server(), place.queues()
    place.ready(server)
    run_id = submit(server.api)["id"]
    queues.await_depth(1)
    waits = await_run(server.api, run_id, lambda one: "waits" in one.get("detail", {}), "published")
    equal(waits["detail"]["waits"], {"reason": "broker", "for": queues.name(), "before": 0})
    with urllib.request.urlopen(f"{server.url}/readyz?verbose") as answer:
        contains("[+] broker ok", answer.read().decode())
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        text = answer.read().decode()
    contains('ksana_broker_messages_total{queue="tasks",outcome="published"} 1', text)
    contains('ksana_broker_up{link="publisher"} 1', text)
    doctor = subprocess.run([place.binary, "doctor"], capture_output=True, text=True, check=False,
                            env={"PATH": os.environ["PATH"], "KSANA_BROKER": place.url,
                                 "KSANA_BROKER_PREFIX": place.prefix,
                                 "KSANA_DATA_DIR": str(place.folder)})
    contains("broker", doctor.stdout)
    check("@" not in doctor.stdout or ":acb" not in doctor.stdout, "a password is shown")


@case
def d13_two_retries_and_a_callback_through_the_broker_are_one_trace(place):
    server, queues = place.server(callback_backoff="50ms"), place.queues()
    target = place.enter_context(Target())
    server.api.call("POST", "/api/v1/types", {"code": "mail", "callbacks": {
        "success": {"url": target.url + "/flaky/1", "method": "POST"}}}, 201)
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    _, _, made = server.request("POST", "/api/v1/runs", {"type": "mail", "retry": RETRY_AT_ONCE},
                                {"traceparent": f"00-{trace}-{parent}-01"})
    told = []
    for attempt in (1, 2, 3):
        message, properties = queues.take()
        equal(message["traceparent"], properties.headers["traceparent"])
        told.append(message["traceparent"].split("-"))
        queues.tell(message, "RUNNING")
        queues.tell(message, *(("FAILED",) if attempt < 3 else ("COMPLETED",)),
                    **({"error": "no"} if attempt < 3 else {"result": 1}))
    await_state(server.api, made["id"], "succeeded")
    calls = target.await_calls("/flaky/1", 2)
    answer = server.api.call("GET", f"/api/v1/runs/{made['id']}/spans")
    equal(answer["trace_id"], trace)
    root = next(one for one in answer["spans"] if one.get("parent_id") == parent)
    callback = next(one for one in answer["spans"] if one["name"] == "callback")
    below = {span["span_id"]: {one["name"]: one for one in answer["spans"]
                               if one.get("parent_id") == span["span_id"]}
             for span in (root, callback)}
    equal(callback["parent_id"], root["span_id"], "parent of the callback")
    sent = [call.headers["traceparent"].split("-") for call in calls]
    for span, ids in ((root, told), (callback, sent)):
        before = span["start"]
        parts = below[span["span_id"]]
        for number, (_, trace_id, span_id, _) in enumerate(ids, 1):
            wait, attempt = parts[f"wait {number}"], parts[f"attempt {number}"]
            equal((trace_id, span_id), (trace, attempt["span_id"]), "what was passed on")
            times = [before, wait["start"], wait["end"], attempt["start"], attempt["end"]]
            equal(times, sorted(times), "times")
            links = [one["span_id"] for one in attempt.get("links", [])]
            equal(links, [parts[f"attempt {number - 1}"]["span_id"]] if number > 1 else [])
            before = attempt["end"]
        check(before <= span["end"] <= root["end"], "nothing ends after the root")
    check(root["start"] < callback["start"], "the callback comes later")


@case
def a_queue_with_other_arguments_is_told(place):
    queues = place.queues()
    queues.channel.queue_declare(queues.name(), durable=True)
    server = place.server()
    run_id = submit(server.api)["id"]
    line = server.await_line("a queue of the message broker cannot be used")
    contains("PRECONDITION_FAILED", line)
    contains(queues.name(), line)
    queues.channel.queue_delete(queues.name())
    equal(queues.task()["run_id"], run_id)


@case
def a_full_queue_pushes_back(place):
    server, queues = place.server(broker_queue_length="5"), place.queues()
    full = [submit(server.api, kind="bulk")["id"] for _ in range(9)]
    queues.await_depth(5)
    other = submit(server.api, kind="vip", category="other")["id"]
    equal(queues.task("tasks.other")["run_id"], other)
    seen = set()
    while len(seen) < len(full):
        message = queues.task()
        queues.tell(message, "RUNNING")
        queues.tell(message, "COMPLETED")
        seen.add(message["run_id"])
    for run_id in full:
        over = await_state(server.api, run_id, "succeeded")
        equal((over["attempt"], over["failures"]), (1, 0), "nothing used up")


@case
def what_is_purged_is_published_again(place):
    server, queues = place.server(broker_wait="1s"), place.queues()
    run_id = submit(server.api)["id"]
    queues.await_depth(1)
    queues.channel.queue_purge(queues.name())
    message = queues.task()
    queues.tell(message, "RUNNING")
    queues.tell(message, "COMPLETED")
    over = await_state(server.api, run_id, "succeeded")
    equal((over["attempt"], over["failures"]), (2, 0))
    equal([one["outcome"] for one in over["attempts"]], ["released", "succeeded"])


@case
def a_deleted_queue_is_made_again_with_its_tasks(place):
    server, queues = place.server(), place.queues()
    run_id = submit(server.api)["id"]
    queues.await_depth(1)
    await_run(server.api, run_id, lambda one: "waits" in one.get("detail", {}), "published")
    queues.channel.queue_delete(queues.name())
    equal(queues.task()["run_id"], run_id)
    server.await_line("messages of tasks are lost")


@case(own=True)
def a_broker_that_is_away_stops_nothing_else(place):
    place.broker.kill()
    server = place.server()
    contains("no connection to the message broker",
             server.await_line("no connection to the message broker"))
    with urllib.request.urlopen(f"{server.url}/readyz?verbose") as answer:
        contains("[!] broker failed", answer.read().decode())
    first = submit(server.api)["id"]
    runs = server.api.call("POST", CLAIM, {"worker": "agent", "wait": "10s"})["runs"]
    equal(runs[0]["run_id"], first, "agents get it meanwhile")
    second = submit(server.api)["id"]
    place.broker.restart()
    equal(place.queues().task(within=60)["run_id"], second)


@case(own=True)
def d11_a_broker_that_is_killed_loses_nothing(place):
    server = place.server()
    place.worker(server, "--handler", "mail=true", "--slots", "8")
    runs = [submit(server.api)["id"] for _ in range(50)]
    place.broker.kill()
    runs += [submit(server.api)["id"] for _ in range(50)]
    place.broker.restart()
    runs += [submit(server.api)["id"] for _ in range(50)]
    for run_id in runs:
        await_state(server.api, run_id, "succeeded", 90)


@case
def d05_d06_a_worker_of_ksana(place):
    server = place.server(worker_heartbeat="300ms", worker_timeout="1500ms")
    first = place.worker(server, "--handler", "mail=sh -c 'cat $KSANA_PAYLOAD_FILE > "
                         "$KSANA_RESULT_FILE'", "--slots", "2", name="w1")
    runs = [submit(server.api, payload={"n": n})["id"] for n in range(20)]
    for n, run_id in enumerate(runs):
        over = await_state(server.api, run_id, "succeeded")
        equal(over["result"], {"n": n})
        check(over["owner"].startswith("w1/"), over["owner"])
    first.stop()
    dying = place.worker(server, "--handler", "mail=sleep 600", name="w2")
    run_id = submit(server.api)["id"]
    await_run(server.api, run_id, lambda one: one.get("owner", "").startswith("w2/"), "a run of w2")
    dying.kill()
    place.worker(server, "--handler", "mail=true", name="w3")
    over = await_state(server.api, run_id, "succeeded")
    check(over["owner"].startswith("w3/"), over["owner"])
    equal(over["attempt"], 2)


@case
def a_worker_takes_no_more_than_it_has_slots_for(place):
    server, queues = place.server(), place.queues()
    go = place.folder / "go"
    place.worker(server, "--handler", f"mail=sh -c 'while [ ! -e {go} ]; do sleep 0.02; done'",
                 "--slots", "2", name="w1")
    runs = [submit(server.api, timeout="60s")["id"] for _ in range(5)]
    queues.await_depth(3)
    stays_so(lambda: queues.depth() == 3, "three wait", 0.3)
    go.touch()
    for run_id in runs:
        await_state(server.api, run_id, "succeeded")


@case
def a_cancel_stops_what_a_worker_runs(place):
    server = place.server()
    place.worker(server, "--handler", "mail=sleep 600", "--lease", "1s", name="w1")
    run_id = submit(server.api)["id"]
    await_run(server.api, run_id, lambda one: one.get("owner", "").startswith("w1/"), "a run of w1")
    cancel(server, run_id)
    await_state(server.api, run_id, "cancelled")


@case
def k24_two_servers_share_the_queues(place):
    store = store_of("postgres")
    servers = [place.server(store), place.server(store)]
    place.worker(servers[0], "--handler", "mail=true", "--slots", "4", name="w1")
    runs = [submit(servers[n % 2].api)["id"] for n in range(40)]
    servers[0].process.kill()
    runs += [submit(servers[1].api)["id"] for _ in range(20)]
    place.worker(servers[1], "--handler", "mail=true", "--slots", "4", name="w2")
    for run_id in runs:
        over = await_state(servers[1].api, run_id, "succeeded", 60)
        check(over["attempt"] <= 2, over)


if __name__ == "__main__":
    given = arguments("KSANA CONSUMER")
    run(given, lambda one: (OwnBrokerPlace if one.options.get("own") else BrokerPlace)(given),
        PARALLEL)
