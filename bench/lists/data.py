"""A store with 100,000 jobs and a million runs, as an export for `ksana import`."""
import datetime
import json
import random
import uuid

GROUPS, OWNERS, TEAMS, TENANTS, QUEUES, CALENDARS = 200, 50, 100, 20, 20, 50
HOT = "job-000007"      # this job has one run in a hundred
STATES = ["succeeded"] * 93 + ["failed"] * 4 + ["timed_out", "cancelled", "skipped"]
HISTORY = datetime.timedelta(days=6)


def text(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def run_id(moment, number):
    """Returns a UUIDv7 for this time."""
    millis = int(moment.timestamp() * 1000)
    low = random.Random(number).getrandbits(62)
    return str(uuid.UUID(int=millis << 80 | 7 << 76 | (number & 0xfff) << 64 | 2 << 62 | low))


def job_id(number):
    return f"job-{number:06}"


class Data:
    """The generated records, and what the questions need to know about them."""

    def __init__(self, jobs, runs, now):
        self.jobs, self.runs, self.now = jobs, runs, now
        self.events, self.ledger = jobs * 2, jobs
        self.counts = {"jobs": jobs, "runs": runs, "attempts": 0, "ledger": self.ledger,
                       "events": self.events, "documents": CALENDARS}
        self.some_run = self.run_id_of(runs // 2)

    def moment(self, number, count):
        return self.now - HISTORY + HISTORY * number / count

    def run_id_of(self, number):
        return run_id(self.moment(number, self.runs), number)

    def job(self, number):
        # No job fires during the benchmark: it measures lists only.
        what = "nightly report" if number % 3 else "sync of orders"
        job = {"id": job_id(number), "name": f"{what} {number * 7919 % self.jobs}",
               "labels": {"team": str(number % TEAMS)},
               "schedule": {"kind": "cron", "cron": f"{number % 60} {number % 24} 1 1 *",
                            "start_at": "2090-01-01T00:00:00Z"},
               "version": 1, "created_at": text(self.moment(number, self.jobs)),
               "updated_at": text(self.moment(number * 31 % self.jobs, self.jobs)),
               "planned_until": text(self.now), "next_run_at": "2090-01-01T00:00:00Z",
               "last_run_at": text(self.moment(number * 17 % self.jobs, self.jobs)),
               "last_state": STATES[number % 100], "total_runs": 10}
        if number % 10 == 0:
            job["type"], job["queue"] = "queue", {"type": f"type-{number // 10 % QUEUES}"}
        else:
            job["type"], job["http"] = "http", {"url": f"http://127.0.0.1:9/{number}"}
        if number % 2:
            job["group"] = f"group-{number // 2 % GROUPS:03}"
        if number % 5 == 0:
            job["owner"] = f"owner-{number // 5 % OWNERS}"
        if number % 20 == 0:
            job["tenant"] = f"tenant-{number // 20 % TENANTS}"
        if number % 100 == 0:
            job["schedule"]["calendar"] = f"calendar-{number // 100 % CALENDARS:02}"
        if number % 25 == 24:
            job["enabled"] = False
        if job["last_state"] == "failed":
            job["last_error"] = f"connection refused by shard {number % 977}"
        return job

    def run(self, number):
        made = self.moment(number, self.runs)
        ended = made + datetime.timedelta(seconds=1 + number % 90)
        owner = 7 if number % 100 == 0 else number % self.jobs
        state = STATES[(number * 37) % 100]
        run = {"id": self.run_id_of(number), "job_id": job_id(owner), "kind": "http",
               "trigger": "manual" if number % 50 == 0 else "fire", "created_at": text(made),
               "updated_at": text(ended),
               "status": {"state": state, "ready_at": text(made), "attempt": 1, "fence": 1,
                          "exec_id": f"{number:x}", "owner": f"node-{number % 3}",
                          "started_at": text(made), "ended_at": text(ended),
                          "finished_at": text(ended)}}
        if run["trigger"] == "fire":
            run["nominal_at"] = text(made)
        if owner % 10 == 0:
            run["kind"], run["type"] = "queue", f"type-{owner // 10 % QUEUES}"
        if number % 200 == 0:
            run["creator"], run["category"] = f"owner-{number // 200 % OWNERS}", "imports"
        if state == "failed":
            run["status"]["last_error"] = f"connection refused by shard {number % 9973}"
        return run

    def event(self, number):
        action = ["created", "changed", "paused", "resumed"][number % 4]
        return {"seq": number + 1, "at": text(self.moment(number, self.events)), "action": action,
                "user": f"user-{number % 40}", "resource_type": "job",
                "resource_id": job_id(number % self.jobs), "client_ip": "127.0.0.1",
                "method": "PATCH /api/v1/jobs", "data": json.dumps({"reason": "by hand"})}

    def entry(self, number):
        at = text(self.moment(number, self.ledger))
        return {"seq": number + 1, "job_id": job_id(number // 10 * 10), "fate": "missed",
                "count": 1, "first": at, "last": at, "recorded_at": at}

    def calendar(self, number):
        return {"kind": "setting", "key": f"calendar/calendar-{number:02}", "version": 1,
                "body": json.dumps({"name": f"calendar-{number:02}",
                                    "exclude": [{"yearly": "12-25"}]}),
                "updated_at": text(self.now)}

    def lines(self):
        yield {"ksana_export": 1, "at": text(self.now), "store": "bench"}
        for kind, make, count in (("job", self.job, self.jobs), ("run", self.run, self.runs),
                                  ("ledger", self.entry, self.ledger),
                                  ("event", self.event, self.events),
                                  ("document", self.calendar, CALENDARS)):
            for number in range(count):
                yield {kind: make(number)}
        yield {"end": self.counts}

    def write(self, file):
        for line in self.lines():
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
