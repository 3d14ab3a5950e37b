"""Places with a RabbitMQ, and what the suites of tasks through it have in common."""
import itertools
import os
import re

from kit.agent_client import show, submit
from kit.checks import check, equal
from kit.contract import Client
from kit.places import Place
from kit.rabbitmq import OwnRabbitmq, Queues, shared_url
from kit.server import Server
from kit.tcp_proxy import TcpProxy
from kit.waiting import wait_for
from kit.worker_process import WorkerProcess

NUMBERS = itertools.count(1)


class BrokerPlace(Place):
    own = False

    def open(self):
        self.binary = self.given.ksana
        self.folder = self.new_folder("ksana_broker_")
        self.folder.chmod(0o755)
        self.prefix = "ksana" if self.own else f"k{os.getpid()}-{next(NUMBERS)}"
        self.broker = None
        if self.own:
            self.broker = self.enter_context(OwnRabbitmq(self.folder / "rabbitmq"))
        self.url = self.broker.url if self.broker else shared_url()
        self.proxy = None

    @property
    def way(self):
        """The URL of the broker as servers and workers see it."""
        if self.proxy is None:
            return self.url
        return re.sub(r":\d+(/|$)", f":{self.proxy.port}/", self.url, count=1) + "?heartbeat=2"

    def behind_proxy(self):
        """From now on servers and workers reach the broker through a proxy, which is returned."""
        port = int(re.search(r":(\d+)(/|$)", self.url).group(1))
        host = re.search(r"@([^:]+):", self.url).group(1)
        self.proxy = self.enter_context(TcpProxy(port, host))
        return self.proxy

    def server(self, store="sqlite", **settings):
        environment = {"KSANA_BROKER": self.way, "KSANA_BROKER_PREFIX": self.prefix,
                       **{f"KSANA_{name.upper()}": text for name, text in settings.items()}}
        server = self.enter_context(Server(self.binary, store, environment=environment))
        server.start()
        server.api = Client(server)
        return server

    def queues(self):
        return self.enter_context(Queues(self.url, self.prefix))

    def worker(self, server, *flags, name="w1"):
        made = WorkerProcess(self.binary, [server], "--broker", self.way, "--broker-prefix",
                             self.prefix, *flags, name=name, folder=self.folder)
        return self.enter_context(made).await_registered()

    def ready(self, server):
        server.await_line('purpose="ksana publisher"')
        server.await_line('purpose="ksana listener"')


class OwnBrokerPlace(BrokerPlace):
    own = True


def await_run(api, run_id, is_so, what, within=30):
    return wait_for(lambda: show(api, run_id), is_so, what, within)


def await_state(api, run_id, state, within=30):
    return await_run(api, run_id, lambda one: one["state"] == state, state, within)


def cancel(server, run_id):
    status, _, body = server.request("POST", f"/api/v1/runs/{run_id}/cancel", {})
    check(status in (200, 202), f"{status}: {body}")


def begin(place, server, queues, worker="c1", **task):
    """Submits a task and begins it as a stranger. Returns the run and its message."""
    run_id = submit(server.api, **task)["id"]
    message = queues.task()
    equal(message["run_id"], run_id)
    queues.tell(message, "RUNNING", worker)
    await_run(server.api, run_id, lambda one: one.get("owner") == worker, f"a run of {worker}")
    return run_id, message
