"""A RabbitMQ of a case's own, and the queues of Ksana as a stranger sees them. Needs pika, so such
a suite runs with Debian's Python."""
import json
import os
import pathlib
import subprocess

import pika

from kit.waiting import wait_for

START = pathlib.Path(__file__).resolve().parent.parent / "support" / "start_rabbitmq.sh"


def shared_url():
    """The broker that ./dev test has started."""
    return os.environ["KSANA_TEST_RABBITMQ"].split()[0]


class OwnRabbitmq:
    """A broker that a case may kill."""

    def __init__(self, folder, address="127.0.0.1"):
        self.folder, self.address = folder, address
        self.url = self.script(str(folder)).split()[0]

    def script(self, *words):
        return subprocess.run(["bash", str(START), *words], check=True, capture_output=True,
                              text=True, env={**os.environ, "KSANA_RABBITMQ_ADDRESS": self.address},
                              ).stdout.strip()

    def kill(self):
        self.script("kill", str(self.folder))

    def restart(self):
        self.script(str(self.folder))

    def ctl(self, *words):
        return self.script("ctl", str(self.folder), *words)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.script("stop", str(self.folder))


class Queues:
    """A connection of a stranger."""

    def __init__(self, url, prefix="ksana"):
        self.prefix = prefix
        self.connection = pika.BlockingConnection(pika.URLParameters(url))
        self.channel = self.connection.channel()
        self.channel.confirm_delivery()

    def name(self, kind="tasks"):
        return f"{self.prefix}.{kind}"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.connection.is_open:
            self.connection.close()

    def ask(self, question, otherwise=None):
        """Asks the broker. It closes the channel where there is no such queue."""
        try:
            return question(self.channel)
        except pika.exceptions.ChannelClosedByBroker:
            self.channel = self.connection.channel()
            self.channel.confirm_delivery()
            return otherwise

    def depth(self, kind="tasks"):
        """None: there is no such queue."""
        return self.ask(lambda channel: channel.queue_declare(
            self.name(kind), passive=True).method.message_count)

    def await_depth(self, count, kind="tasks", within=30):
        wait_for(lambda: self.depth(kind), lambda now: now == count,
                 f"{count} messages in {self.name(kind)}", within)

    def take(self, kind="tasks", within=30):
        """Returns the next message, acknowledged, with its properties."""
        def look():
            method, properties, body = self.ask(
                lambda channel: channel.basic_get(self.name(kind), auto_ack=True), [None] * 3)
            return None if method is None else (json.loads(body), properties)
        return wait_for(look, lambda got: got is not None, f"a message in {self.name(kind)}",
                        within)

    def task(self, kind="tasks", within=30):
        return self.take(kind, within)[0]

    def tell(self, task, status, worker="c1", **more):
        self.send({"run_id": task["run_id"], "exec_id": task["exec_id"], "worker": worker,
                   "status": status, **more})

    def send(self, body, kind="status"):
        text = body if isinstance(body, (str, bytes)) else json.dumps(body)
        self.channel.basic_publish("", self.name(kind), text,
                                   pika.BasicProperties(delivery_mode=2))

    def listen(self, worker="c1"):
        """Declares the queue of what servers tell this consumer."""
        self.channel.queue_declare(self.name(f"worker.{worker}"), exclusive=True)
