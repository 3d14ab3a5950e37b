"""Ksana for Python programs: submit tasks, and work on them.

One file that needs nothing but Python 3.9 or newer: copy it. docs/agents.md describes the calls.

    import ksana

    client = ksana.Client()                     # KSANA_SERVER, KSANA_TOKEN_FILE or KSANA_TOKEN
    run = client.submit("mail", {"to": "ada@example.com"})

    agent = ksana.Agent(concurrency=4)

    @agent.handler("mail")
    def mail(task):
        return {"sent_to": task.payload["to"]}

    agent.run()                                 # until SIGTERM or SIGINT
"""
import http.client
import json
import logging
import os
import random
import signal
import socket
import ssl
import threading
import time
import traceback
import urllib.parse
import uuid

__all__ = ["Agent", "Cancelled", "Client", "Error", "LeaseLost", "Permanent", "Release", "Retry",
           "Snooze", "Task", "Unreachable"]

DEFAULT_SERVER = "http://127.0.0.1:7100"
FINAL_STATES = frozenset(
    ["succeeded", "failed", "timed_out", "cancelled", "resolved", "skipped", "missed"])
MAX_BEATS = 100         # heartbeats in one call
MAX_LINES = 100         # log lines kept between two calls
BEAT_PAUSE = 0.2  # seconds between two heartbeats of a task with progress or log lines to send
DRAIN_PAUSE = 2.0  # mean number of seconds without a claim after the server has announced its stop

log = logging.getLogger("ksana")


# ---- errors

class Error(Exception):
    """The server refused a request. `status` and `code` are stable; `problem` is its whole
    answer."""

    def __init__(self, message, status=0, problem=None, retry_after=0.0):
        super().__init__(message)
        self.status, self.problem, self.retry_after = status, problem or {}, retry_after
        self.code = self.problem.get("code", "")

    @property
    def may_pass(self):
        """Whether the same call may succeed later."""
        return self.status in (0, 401, 403, 408, 425, 429) or self.status >= 500


class Unreachable(Error):
    """The server did not answer."""


# ---- what a handler may raise; any other exception is a failure that the policy retries

class Retry(Exception):
    """Failed: retry as the policy says, but not before `after` seconds."""

    def __init__(self, after=None, message="to be tried again"):
        super().__init__(message)
        self.after = after


class Permanent(Exception):
    """Failed: do not retry."""


class Snooze(Exception):
    """Not now, but after `after` seconds. Counts as no failure and uses up no retry."""

    def __init__(self, after):
        super().__init__(f"snoozed for {after}")
        self.after = after


class Release(Exception):
    """Gives the task back, so that another agent can take it at once. Uses up no retry."""


class Cancelled(Exception):
    """Raised by Task.check(): a user has cancelled the task."""


class LeaseLost(Exception):
    """Raised by Task.check(): the lease is lost, and another agent may have the task."""


# ---- HTTP

def _duration(value):
    """Formats a duration for the server; numbers are seconds."""
    return value if isinstance(value, str) else f"{round(value * 1000)}ms"


def _new_id():
    """Returns a UUID of version 7: runs are listed by their ids, so these must rise with the
    time."""
    bits = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | uuid.uuid4().int & (1 << 80) - 1
    return str(uuid.UUID(int=bits & ~(0xf << 76) | 7 << 76))


def _text(value, most):
    """Returns text of at most `most` bytes of UTF-8, without NUL, which no store accepts."""
    plain = str(value).replace("\0", "\ufffd")
    return plain.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


class _Backoff:
    """Random pauses that grow to 15 seconds, so that agents do not come back all at once."""

    def __init__(self):
        self.step = 0

    def next(self, least=0.0):
        self.step = min(self.step + 1, 8)
        return max(least, random.uniform(0.5, 1.0) * min(0.1 * 2 ** (self.step - 1), 15.0))

    def reset(self):
        self.step = 0


class _Wire:
    """JSON calls over kept-alive connections. Thread-safe."""

    def __init__(self, url, token, token_file, ca_file):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url} is not the URL of a server")
        self.url, self.host, self.port = url, parts.hostname, parts.port
        self.prefix = parts.path.rstrip("/") + "/api/v1"
        self.tls = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
        self.token, self.token_file = token, token_file
        self.lock, self.idle = threading.Lock(), []
        self._headers()     # fails now if the token cannot be read

    def _headers(self):
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        token = self.token
        if self.token_file:     # read for each call: a new token needs no restart
            with open(self.token_file, encoding="utf-8") as file:
                token = file.read().strip()
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _take(self, timeout):
        with self.lock:
            if self.idle:
                connection = self.idle.pop()
                connection.timeout = timeout
                if connection.sock is not None:
                    connection.sock.settimeout(timeout)
                return connection, True
        if self.tls:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout,
                                               context=self.tls), False
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout), False

    def call(self, method, path, body=None, timeout=30.0, headers=None,
             watch=lambda connection: None):
        """Returns the parsed answer; None without a body. Raises Error. `watch` gets the
        connection before the call and before the wait for its answer, and may raise Error."""
        text = None if body is None else json.dumps(body, allow_nan=False).encode()
        try:
            headers = {**self._headers(), **(headers or {})}
        except OSError as error:
            raise Error(f"the token cannot be read: {error}") from error
        while True:
            connection, kept = self._take(timeout)
            try:
                watch(connection)
                connection.request(method, self.prefix + path, text, headers)
                watch(connection)
                response = connection.getresponse()
                content = response.read()
            except Error:
                connection.close()
                raise
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                # The server closes idle connections: that is no failure of the server.
                if kept and not isinstance(error, socket.timeout):
                    continue
                raise Unreachable(f"{self.url}: {error or type(error).__name__}") from error
            if not response.will_close:
                with self.lock:
                    self.idle.append(connection)
            return self._read(response, content)

    @staticmethod
    def _read(response, content):
        try:
            answer = json.loads(content) if content else None
        except ValueError:
            answer = None
        if response.status < 300:
            return answer
        problem = answer if isinstance(answer, dict) else {}
        message = problem.get("detail") or problem.get("title") or response.reason
        faults = [f"{fault.get('pointer')}: {fault.get('detail') or fault.get('message')}"
                  for fault in problem.get("errors", [])]
        wait = response.getheader("Retry-After") or ""
        raise Error("; ".join([f"{response.status} {message}", *faults]), response.status, problem,
                    float(wait) if wait.isdigit() else 0.0)


# ---- the client

class Client:
    """Submits tasks, and reads and cancels runs. Thread-safe. While the server is unreachable or
    busy, a call is repeated for `patience` seconds; the server executes it once."""

    def __init__(self, url=None, token=None, token_file=None, ca_file=None, patience=30.0):
        env = os.environ.get
        if token is None and token_file is None:
            token_file = env("KSANA_TOKEN_FILE")
            token = None if token_file else env("KSANA_TOKEN")
        self.patience = patience
        self.wire = _Wire(url or env("KSANA_SERVER") or DEFAULT_SERVER, token, token_file, ca_file)

    def _call(self, method, path, body=None, headers=None):
        backoff, deadline = _Backoff(), time.monotonic() + self.patience
        while True:
            try:
                return self.wire.call(method, path, body, headers=headers)
            except Error as error:
                pause = backoff.next(error.retry_after)
                refused = not error.may_pass or error.status in (401, 403)
                if refused or time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)

    @staticmethod
    def _task(type, payload=None, **options):
        for name in ("delay", "timeout"):
            if name in options:
                options[name] = _duration(options[name])
        # The id is chosen here, so that the server accepts the task once, however often it is sent.
        return {"id": _new_id(), "type": type, "payload": payload, **options}

    def submit(self, type, payload=None, **options):
        """Submits a task and returns its run. Options: tenant, creator, category, priority,
        start_at or delay, unique, retry, timeout, need_manual, parent, selector, id."""
        return self._call("POST", "/runs", self._task(type, payload, **options))

    def submit_many(self, tasks):
        """Submits all or none of at most 10,000 tasks (dictionaries with the arguments of
        submit). Returns id, verdict and state of each."""
        return self._call("POST", "/runs/batch",
                          {"runs": [self._task(**task) for task in tasks]})["results"]

    def get(self, run_id):
        return self._call("GET", f"/runs/{run_id}")

    def cancel(self, run_id):
        """Cancels a run and returns it. A running one ends once its agent has reacted."""
        return self._call("POST", f"/runs/{run_id}/cancel",
                          headers={"Idempotency-Key": str(uuid.uuid4())})

    def wait(self, run_id, timeout=None):
        """Returns the run once it is over. Raises TimeoutError."""
        deadline, pause = float("inf"), 0.05
        if timeout is not None:
            deadline = time.monotonic() + timeout
        while True:
            run = self.get(run_id)
            if run["state"] in FINAL_STATES:
                return run
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{run_id} is {run['state']}")
            time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
            pause = min(pause * 1.5, 2.0)


# ---- the agent

class Task:
    """One attempt at a task, as its handler sees it. Thread-safe."""

    def __init__(self, run, lease, news, stopping):
        self.run = run          # the run as the server sent it
        self.id, self.exec_id, self.type = run["run_id"], run["exec_id"], run["type"]
        self.payload, self.attempt, self.fence = run["payload"], run["attempt"], run["fence"]
        now = time.monotonic()
        self._lease, self._news, self._agent_stops = lease, news, stopping
        self._expires = now + run.get("lease_expires_in", lease)
        self._deadline = now + run["deadline_in"] if run.get("deadline_in") else float("inf")
        self._beat_at, self._said = now + lease / 3, {}
        self._lines, self._over = [], False
        self._ended, self._why = threading.Event(), None

    @property
    def cancelled(self):
        """Whether a user has cancelled the task: the handler should end, best by check()."""
        return self._why is Cancelled

    @property
    def lost(self):
        """Whether the lease is lost: the handler should end, as no report will be accepted."""
        return self._why is LeaseLost

    @property
    def stopping(self):
        """Whether the agent is stopping: the handler should finish soon, or raise Release."""
        return self._agent_stops.is_set()

    @property
    def remaining(self):
        """Seconds until the attempt times out."""
        return self._deadline - time.monotonic()

    def check(self):
        """Raises Cancelled or LeaseLost if the handler should end."""
        if self._why is not None:
            raise self._why(f"{self.type} {self.id}")

    def wait(self, seconds):
        """Sleeps. Returns True at once if the task is cancelled or lost."""
        return self._ended.wait(seconds)

    def progress(self, percent, note=None):
        with self._news:
            self._said["progress"] = max(0, min(100, int(percent)))
            if note is not None:
                self._said["note"] = _text(note, 1000)
            self._news.notify_all()

    def log(self, line):
        """Stores a log line with the attempt. Lines are sent every 0.2 s; of more than 100, the
        oldest are dropped."""
        with self._news:
            self._lines.append(_text(line, 2000))
            del self._lines[:-MAX_LINES]
            self._news.notify_all()

    def _end(self, why):
        if self._why is None:
            self._why = why
            self._ended.set()

    # The caller of these three holds the agent's lock.
    def _due(self, now):
        """Returns when the next heartbeat is due."""
        if self._said or self._lines:
            return min(self._beat_at, max(now, self._beat_at - self._lease / 3 + BEAT_PAUSE))
        return self._beat_at

    def _take_lines(self):
        lines, self._lines = self._lines, []
        return {"log": lines} if lines else {}

    def _beat(self, now):
        said, self._said = self._said, {}
        self._beat_at = now + self._lease / 3
        return {"run_id": self.id, "exec_id": self.exec_id, "outcome": "heartbeat",
                "lease": _duration(self._lease), **said, **self._take_lines()}


class Agent:
    """Fetches tasks of the types that have a handler, and runs up to `concurrency` of them in
    threads.

    lease: seconds without a heartbeat after which the agent loses its tasks; heartbeats are sent
    at a third of it. wait: seconds of one long poll, at most 60. grace: seconds that tasks may
    take after stop(); then they are released. `tenant`, `creator`, `categories` and `labels`
    restrict which tasks are fetched."""

    def __init__(self, client=None, worker=None, concurrency=1, lease=30.0, wait=20.0, grace=20.0,
                 **filters):
        if not 1 <= concurrency <= 500:
            raise ValueError("concurrency lies between 1 and 500")
        if not 1 <= wait <= 60 or lease < 1:
            raise ValueError("wait lies between 1 and 60 seconds, lease is at least 1")
        self.client = client or Client()
        self.worker = worker or f"{socket.gethostname()}-{os.getpid()}"
        self.concurrency, self.lease, self.wait, self.grace = concurrency, lease, wait, grace
        self.filters, self.handlers = filters, {}
        self._news = threading.Condition()      # guards the members below and the news of tasks
        self._held = {}                         # exec_id: Task
        self._stopping, self._aborted = threading.Event(), threading.Event()
        self._poll, self._quiet_until = None, 0.0

    def handler(self, type):
        """@agent.handler("mail"): registers a function that takes a Task and returns the result."""
        def add(function):
            self.handlers[type] = function
            return function
        return add

    def stop(self, grace=None):
        """Stops fetching; run() returns once the held tasks are over. Any thread may call this."""
        if grace is not None:
            self.grace = grace
        with self._news:
            self._stopping.set()
            self._news.notify_all()
            if self._poll is not None and self._poll.sock is not None:
                try:    # an answer that has arrived can still be read
                    socket.socket.shutdown(self._poll.sock, socket.SHUT_RD)
                except OSError:
                    pass

    def run(self):
        """Works until stop(), SIGTERM or SIGINT; a second signal releases the held tasks at
        once. Raises Error if the first claim is refused."""
        if not self.handlers:
            raise ValueError("there is no handler")
        told, tell = os.pipe()
        failure = []

        def work():
            try:
                self._loop()
            except BaseException as error:      # raised again by run()
                failure.append(error)
            finally:
                os.write(tell, b"e")

        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                # A signal handler must not take a lock: it only writes.
                before[number] = signal.signal(number, lambda *_: os.write(tell, b"s"))
        try:
            threading.Thread(target=work, daemon=True).start()
            while os.read(told, 1) == b"s":
                self.stop(grace=0 if self._stopping.is_set() else None)
        finally:
            for number, old in before.items():
                signal.signal(number, old)
            os.close(told)
            os.close(tell)
        if failure:
            raise failure[0]

    # ---- fetching

    def _loop(self):
        beats = threading.Thread(target=self._keep, daemon=True)
        beats.start()
        try:
            self._fetch()
            self._finish()
        finally:
            self._aborted.set()
            with self._news:
                self._news.notify_all()
            beats.join()

    def _fetch(self):
        backoff, known = _Backoff(), False
        while True:
            with self._news:
                self._news.wait_for(lambda: self._stopping.is_set() or
                                    len(self._held) < self.concurrency)
                free = self.concurrency - len(self._held)
                quiet = self._quiet_until - time.monotonic()
            if self._stopping.wait(max(0.0, quiet)):
                return
            began, pause = time.monotonic(), 0.0
            try:
                runs = self._claim(free)
                known = True
            except Error as error:
                if self._stopping.is_set():
                    return
                if not known and (not error.may_pass or error.status in (401, 403)):
                    raise
                runs, pause = [], backoff.next(error.retry_after)
                log.warning("no claim, again in %.1f s: %s", pause, error)
            else:
                # An empty answer long before the end of the poll: the server is about to stop.
                if not runs and time.monotonic() - began < self.wait / 2:
                    pause = backoff.next()
                else:
                    backoff.reset()
            for run in runs:
                self._start(run)
            self._stopping.wait(pause)

    def _claim(self, free):
        body = {"worker": self.worker, "types": sorted(self.handlers), "max": free,
                "lease": _duration(self.lease), "wait": _duration(self.wait), **self.filters}

        def watch(connection):
            with self._news:
                self._poll = connection
                if self._stopping.is_set():
                    raise Unreachable("the agent stops")

        try:
            answer = self.client.wire.call("POST", "/agent/claim", body, self.wait + 5,
                                           watch=watch)
        finally:
            with self._news:
                self._poll = None
        return answer["runs"] if answer else []

    def _start(self, run):
        task = Task(run, self.lease, self._news, self._stopping)
        with self._news:
            self._held[task.exec_id] = task
            self._news.notify_all()
        threading.Thread(target=self._work, args=(task,), daemon=True).start()

    def _finish(self):
        """Waits for the held tasks during the grace period, then releases the rest."""
        began = time.monotonic()
        with self._news:
            while self._held and (left := began + self.grace - time.monotonic()) > 0:
                self._news.wait(min(left, 0.5))     # a second signal shortens the grace
            rest = [task for task in self._held.values() if not task._over]
            self._aborted.set()
            for task in rest:
                task._over = True
        if rest:
            self._release(rest)
        with self._news:        # wait for reports in flight
            self._news.wait_for(lambda: all(task in rest for task in self._held.values()), 5)

    def _release(self, tasks):
        reports = [{"run_id": task.id, "exec_id": task.exec_id, "outcome": "released",
                    **task._take_lines()} for task in tasks]
        backoff = _Backoff()
        for _ in range(3):
            try:
                self.client.wire.call("POST", "/agent/exchange",
                                      {"worker": self.worker, "reports": reports}, 5)
                return
            except Error as error:
                log.warning("%d tasks are not released: %s", len(tasks), error)
                time.sleep(backoff.next())

    # ---- working

    def _work(self, task):
        if self._stopping.is_set():
            verb, body = "release", {}
        else:
            verb, body = self._outcome(task)
        try:
            if not self._aborted.is_set():
                self._report(task, verb, body)
        finally:
            with self._news:
                self._held.pop(task.exec_id, None)
                self._news.notify_all()

    def _outcome(self, task):
        """Runs the handler. Returns the verb and the body of the report."""
        try:
            result = self.handlers[task.type](task)
            json.dumps(result, allow_nan=False)
            return "succeed", {"result": result}
        except Snooze as error:
            return "snooze", {"after": _duration(error.after)}
        except (Release, LeaseLost):
            return "release", {}
        except BaseException as error:      # any exception is a failure of the task
            failure, retry = error, "default"
            if isinstance(error, (Permanent, Cancelled)):
                retry = "no"
            elif isinstance(error, Retry) and error.after is not None:
                retry = {"after": _duration(error.after)}
        told = {"type": _text(type(failure).__name__, 200),
                "message": _text(failure, 4000) or type(failure).__name__,
                "stack": _text("".join(traceback.format_exception(
                    type(failure), failure, failure.__traceback__)), 32000)}
        log.info("%s %s failed: %s", task.type, task.id, told["message"])
        return "fail", {"error": told, "retry": retry}

    def _report(self, task, verb, body):
        """Sends the report until it is answered. The server accepts the same report twice."""
        backoff = _Backoff()
        with self._news:
            task._over = True
            body = {"exec_id": task.exec_id, **body, **task._take_lines()}
        while True:
            try:
                self.client.wire.call("POST", f"/agent/runs/{task.id}/{verb}", body, 30)
                return
            except Error as error:
                if error.may_pass:
                    if self._aborted.wait(backoff.next(error.retry_after)):
                        log.error("%s of %s %s was not told: %s", verb, task.type, task.id, error)
                        return
                elif verb == "succeed" and error.status in (400, 413):
                    verb, body = "fail", {"exec_id": task.exec_id, "error": {
                        "type": "ResultRefused", "message": _text(error, 4000)}}
                else:
                    if verb != "release":
                        log.warning("%s of %s %s is not accepted: %s", verb, task.type, task.id,
                                    error)
                    return

    # ---- heartbeats

    def _keep(self):
        """Sends the heartbeats of all held tasks, in one call."""
        backoff = _Backoff()
        while True:
            with self._news:
                now = time.monotonic()
                for task in self._held.values():
                    if now > min(task._expires, task._deadline):
                        task._end(LeaseLost)
                due = [task for task in self._held.values() if task._due(now) <= now]
                if self._aborted.is_set():
                    return
                if not due:
                    next_one = min((task._due(now) for task in self._held.values()),
                                   default=now + 60)
                    self._news.wait(max(0.0, next_one - now))
                    continue
                beats = {task: task._beat(now) for task in due[:MAX_BEATS]}
            try:
                answer = self.client.wire.call(
                    "POST", "/agent/exchange",
                    {"worker": self.worker, "reports": list(beats.values())},
                    max(1.0, self.lease / 3))
                backoff.reset()
            except Error as error:
                log.warning("no heartbeat: %s", error)
                # A refused progress or log is not sent again: otherwise every heartbeat would be
                # refused and the tasks lost.
                self._beat_again(beats, time.monotonic() + backoff.next(error.retry_after),
                                 news=error.status not in (400, 413))
                continue
            with self._news:
                for task, told in zip(beats, answer["reports"]):
                    self._hear(task, told, now)

    def _beat_again(self, beats, when, news):
        with self._news:
            for task, beat in beats.items():
                if not news:
                    task._beat_at = when
                    continue
                task._said = {name: beat[name] for name in ("progress", "note")
                              if name in beat} | task._said
                task._lines = (beat.get("log", []) + task._lines)[-MAX_LINES:]
                task._beat_at = when + self.lease / 3 if task._said or task._lines else when

    def _hear(self, task, told, sent):
        directives = told.get("directives", [])
        if told["verdict"] == "ok":
            task._expires = sent + self.lease
        elif not task._over:    # else the task was reported meanwhile
            task._end(LeaseLost)
        if "cancel" in directives:
            task._end(Cancelled)
        if "drain" in directives:
            self._quiet_until = time.monotonic() + DRAIN_PAUSE * random.uniform(0.5, 1.5)
