#!/usr/bin/env python3
"""Valid and broken requests generated from the served description: never a 5xx, every answer valid.

usage: generated_cases.py KSANA STORE [SEED [COUNT]]      STORE: sqlite, json, postgres
"""
import contextlib
import copy
import json
import random
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

from kit.cases import arguments, case, run, say
from kit.checks import Failure, check
from kit.contract import Breach, Client
from kit.postgres import store_of
from kit.server import Server

PER_OPERATION = 120
TEXTS = ["", "a", "j1", "j2", "default", "billing", "0", "ä€", "a b", "x" * 300, "{{run_id}}",
         "%", "\"", "\\", "../x", "null", "\U0001f600", "' OR 1=1 --", "*/5 * * * *", "1h", "-1s",
         "UTC", "Europe/Paris", "http://127.0.0.1:9/", "2026-01-01T00:00:00Z",
         "9999-12-31T23:59:59.999999Z", "0000-01-01T00:00:00Z"]
WORKER = {"name": "w", "incarnation": "01a16d65-7709-7075-abb4-dbbb7bae3397", "slots": 2}
BEAT = {"incarnation": WORKER["incarnation"], "busy": 0}
TIMES = ["2026-01-01T00:00:00Z", "1969-12-31T23:59:59.5Z", "0000-01-01T00:00:00Z",
         "9999-12-31T23:59:59.999999Z", "2200-02-29T12:00:00+05:30"]
NUMBERS = [0, 1, -1, 5, 9, 10, 100, 500, 501, 2**31 - 1, 2**31, -2**31, 2**63 - 1, 2**63, 2**64,
           1e300]
YESTERDAY = datetime.now(timezone.utc).replace(hour=23, minute=30) - timedelta(days=1)
# The only job with fires in the past. Its runs do not end at once.
HOURLY = {"id": "hourly", "name": "n", "http": {"url": "http://127.0.0.1:9/"},
          "schedule": {"kind": "cron", "cron": "0 * * * *"},
          "retry": {"strategy": "fixed", "max_retries": 1, "interval": "1h"}}


class Maker:
    """Values for schemas. The schema does not allow about one in eight."""

    def __init__(self, description, source):
        self.description, self.source = description, source

    def wrong(self):
        return self.source.choice([None, True, 0, -1, 1.5, "", "x", [], {}, [[]], {"a": {}},
                                   self.source.choice(NUMBERS), self.source.choice(TEXTS)])

    def value(self, schema, depth=0):
        schema = self.description.resolve(schema)
        if self.source.random() < 0.04:
            return self.wrong()
        if "enum" in schema:
            return self.source.choice(schema["enum"])
        if schema.get("examples") and self.source.random() < 0.5:
            return self.source.choice(schema["examples"])
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self.source.choice(kind)
        maker = getattr(self, "make_" + kind, None) if isinstance(kind, str) else None
        return maker(schema, depth) if maker else self.wrong()

    def make_object(self, schema, depth):
        names = schema.get("properties", {})
        needed = schema.get("required", [])
        chance = 0.3 if depth < 4 else 0
        made = {}
        for name, part in names.items():
            if self.source.random() < (0.98 if name in needed else chance):
                made[name] = self.value(part, depth + 1)
        if not names or self.source.random() < 0.03:
            made[self.source.choice(TEXTS)] = self.value({"type": "string"}, depth + 1)
        return made

    def make_array(self, schema, depth):
        return [self.value(schema["items"], depth + 1) for _ in range(self.source.randrange(3))]

    def make_string(self, schema, _):
        if schema.get("format") == "date-time":
            return self.source.choice(TIMES)
        return self.source.choice(TEXTS)

    def make_integer(self, _, __):
        return self.source.choice(NUMBERS[:-1])

    def make_number(self, _, __):
        return self.source.choice(NUMBERS)

    def make_boolean(self, _, __):
        return self.source.random() < 0.5


class Requests:
    """Fills in an operation with known ids, and now and then with unknown ones."""

    def __init__(self, description, source):
        self.description, self.source = description, source
        self.maker = Maker(description, source)
        self.jobs, self.runs, self.cursors, self.tags = ["j1"], [], ["x"], ['"1"']
        self.backfills = []
        self.nodes = []
        self.claimed = []       # (run_id, exec_id)
        self.dead_letters = []

    def report(self, schema, token):
        """The report of an agent on a run that it holds."""
        made = self.maker.value(schema)
        if not isinstance(made, dict) or self.source.random() < 0.5:
            made = {"after": "1s"} if schema["$ref"].endswith("Snooze") else {}
            if schema["$ref"].endswith("Failure"):
                made["error"] = {"message": "m"}
        return {**made, "exec_id": token[1]}

    @staticmethod
    def impatient(made):
        """Makes the wait of a claim short: no task comes."""
        for claim in (made, made.get("claim")) if isinstance(made, dict) else ():
            if isinstance(claim, dict) and "wait" in claim:
                claim["wait"] = "10ms"
        return made

    def job(self, method):
        """A job; half of the jobs are valid."""
        job = self.maker.value({"$ref": "#/components/schemas/JobDefinition"})
        if not isinstance(job, dict) or self.source.random() < 0.3:
            return job
        good = {"type": "http", "http": {"url": "http://127.0.0.1:9/"}, "name": "n",
                "schedule": {"kind": "every", "every": "1h"}}
        if self.source.random() < 0.3:      # its runs do not end at once
            good["retry"] = {"strategy": "fixed", "max_retries": 3, "interval": "1h"}
        extra = self.source.sample(sorted(job), min(len(job), self.source.randrange(3)))
        good.update({name: job[name] for name in extra if name not in ("id", "type", "enabled")})
        if method == "POST":
            good["id"] = f"j{self.source.randrange(9)}"
        return good

    def body(self, method, pattern, operation, token=None):
        content = operation.get("requestBody", {}).get("content")
        if content is None:
            return None, {}
        kind = self.source.choice(sorted(content))
        schema = content[kind]["schema"]
        if schema["$ref"].endswith(("JobDefinition", "JobPatch")):
            made = self.job(method)
        elif token is not None:
            made = self.report(schema, token)
        elif schema["$ref"].endswith("BackfillRequest") and self.source.random() < 0.5:
            made = {"from": YESTERDAY.replace(hour=0).isoformat(),
                    "to": YESTERDAY.isoformat(), "dry_run": self.source.random() < 0.5}
        elif schema["$ref"].endswith("TaskDefinition") and self.source.random() < 0.3:
            made = {"type": "work", "payload": {}}
        elif "/workers" in pattern and self.source.random() < 0.6:
            made = WORKER if pattern.endswith("/workers") else BEAT
        elif schema["$ref"].endswith("AgentClaim") and self.source.random() < 0.3:
            made = {"worker": "w", "max": 3}
        elif "example" in content[kind] and self.source.random() < 0.2:
            made = copy.deepcopy(content[kind]["example"])
        else:
            made = self.maker.value(schema)
        if schema["$ref"].endswith(("AgentClaim", "AgentExchange")):
            made = self.impatient(made)
        text = json.dumps(made, ensure_ascii=self.source.random() < 0.5)
        if self.source.random() < 0.03:
            text = text[:self.source.randrange(len(text) + 1)]
        return text.encode(), {"Content-Type": kind}

    def parameter(self, parameter):
        name = parameter["name"]
        if name == "cursor":
            return self.source.choice(self.cursors)
        if name == "limit":
            return self.source.choice([1, 2, 3, 500, 0, 501, "x"])
        if name == "incarnation" and self.source.random() < 0.7:
            return WORKER["incarnation"]
        if name == "count":
            return self.source.choice([1, 1000, 0, 1001])
        made = self.maker.value(parameter["schema"])
        if isinstance(made, bool):
            return str(made).lower()
        return made

    def make(self, method, pattern, operation):
        query, path = [], pattern
        if "text/event-stream" in operation["responses"].get("200", {}).get("content", {}):
            method = "HEAD"         # a stream has no end
        token = None
        if "/agent/runs/" in pattern and self.claimed and self.source.random() < 0.6:
            # Most runs end with one report, so most tokens are used once.
            token = self.claimed.pop() if self.source.random() < 0.7 else self.claimed[0]
        body, headers = self.body(method, pattern, operation, token)
        for parameter in operation["parameters"]:
            if parameter["in"] == "path":
                known = {"runs": self.runs, "backfills": self.backfills, "nodes": self.nodes,
                         "workers": [WORKER["name"]] * 3,
                         "callbacks": self.dead_letters}.get(pattern.split("/")[3], self.jobs)
                value = self.source.choice(known + ["j1", "none"])
                if token is not None:
                    value = token[0]
                if pattern.endswith(("/backfill", "/run")) and self.source.random() < 0.5:
                    value = HOURLY["id"]
                path = path.replace("{" + parameter["name"] + "}", quote(value, safe=""))
            elif parameter["in"] == "header":
                if self.source.random() < 0.4:
                    headers[parameter["name"]] = self.header(parameter["name"])
            elif self.source.random() < 0.25:
                value = self.parameter(parameter)
                for one in value if isinstance(value, list) else [value]:
                    query.append(f"{parameter['name']}={quote(str(one), safe='')}")
        return method, path + ("?" + "&".join(query) if query else ""), body, headers

    def header(self, name):
        if name == "Idempotency-Key":
            return f"key-{self.source.randrange(20)}"
        return self.source.choice(self.tags[-3:] + ["*", "*", "*", '"1"', "nonsense"])

    def learn(self, headers, content):
        """Keeps ids, cursors and tags of an answer for later requests."""
        if "ETag" in headers:
            self.tags.append(headers["ETag"])
        if not isinstance(content, dict):
            return
        if content.get("next_cursor"):
            self.cursors = (self.cursors + [content["next_cursor"]])[-10:]
        self.dead_letters += [one["id"] for one in content.get("items", ())
                              if "event" in one and one.get("state") == "failed"]
        self.dead_letters = self.dead_letters[-10:]
        claimed = content.get("runs")
        for run in claimed if isinstance(claimed, list) else ():
            if "exec_id" not in run:
                continue    # a broadcast lists its runs, too
            self.claimed = (self.claimed + [(run["run_id"], run["exec_id"])])[-10:]
        if "attempt" in content:
            self.runs = (self.runs + [content["id"]])[-10:]
        elif "per_minute" in content:
            self.backfills = (self.backfills + [content["id"]])[-10:]
        elif "schedule" in content:
            self.jobs = (self.jobs + [content["id"]])[-10:]


def explore(client, seed, count):
    source = random.Random(seed)
    requests = Requests(client.description, source)
    client.call("POST", "/api/v1/workers", WORKER, 201)
    requests.nodes = [node["name"] for node in client.call("GET", "/api/v1/nodes")["items"]]
    seen = {}
    for _ in range(count):
        method, pattern, operation = source.choice(client.description.operations)
        sent = requests.make(method, pattern, operation)
        try:
            status, headers, content = client.server.request(*sent)
            client.description.check_answer(sent[0], sent[1], status, headers, content)
        except (Breach, OSError, ValueError) as fault:
            raise Failure(f"seed {seed}: {sent}: {fault!r}") from fault
        check(status < 500, f"seed {seed}: {sent}: {status} {content}")
        seen.setdefault((method, pattern), set()).add(status)
        requests.learn(headers, content)
    return seen


@case
def generated_requests_get_valid_answers(server, seed, count):
    client = Client(server)
    client.call("POST", "/api/v1/jobs", HOURLY, 201)
    made = count or PER_OPERATION * len(client.description.operations)
    seen = explore(client, seed, made)
    for method, pattern, _ in client.description.operations:
        statuses = seen.get((method, pattern), set())
        check(count or any(status < 400 for status in statuses),
              f"{method} {pattern} never succeeded: {statuses}")
    say(f"seed {seed}, {made} requests, statuses {sorted(set().union(*seen.values()))}")


@contextlib.contextmanager
def generated_place(given):
    # No target answers at the URLs: without retries some runs have failed.
    with Server(given.ksana, store_of(given.store), environment={"MAX_RETRIES": "0"}) as server:
        server.start()
        yield server, int(given.seed or 1), int(given.count or 0)


if __name__ == "__main__":
    words = arguments("KSANA STORE", "SEED COUNT")
    run(words, lambda _: generated_place(words))
