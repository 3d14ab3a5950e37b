"""The requests to measure in a full store: every list, filter, order and search."""
import dataclasses

from data import HOT, job_id


@dataclasses.dataclass
class Question:
    name: str
    paths: list          # requested in turn, repeatedly
    pages: int = 1       # number of pages to fetch, each measured


def job_lists(data):
    some = [job_id(number * 977 % data.jobs) for number in range(50)]
    orders = ["id", "name", "next_run_at", "last_run_at", "created_at", "updated_at"]
    filters = {"group": "group-017", "group of most": None, "owner": "owner-3",
               "tenant": "tenant-5", "name": "nightly+report+7919", "queue_type": "type-3",
               "label": "team=42", "enabled": "false", "last_state": "failed", "type": "queue"}
    base = "/api/v1/jobs?"
    for order in orders:
        yield Question(f"jobs by {order}, page after page", [f"{base}sort={order}"], 20)
        yield Question(f"jobs by {order}, the other way", [f"{base}sort=-{order}"], 20)
    for name, value in filters.items():
        wish = "group=default" if value is None else f"{name}={value}"
        yield Question(f"jobs, filter {name}", [f"{base}{wish}"], 3)
        yield Question(f"jobs, filter {name}, total", [f"{base}{wish}&total=true"])
        yield Question(f"jobs, filter {name}, by next_run_at",
                       [f"{base}{wish}&sort=next_run_at"], 3)
    yield Question("jobs, filter last_state, by -last_run_at",
                   [f"{base}last_state=failed&sort=-last_run_at"], 3)
    yield Question("jobs, page of 500", [f"{base}limit=500"], 5)
    yield Question("jobs, total", [f"{base}limit=1&total=true"])
    yield Question("jobs, search of what is frequent", [f"{base}q=nightly+report"], 3)
    yield Question("jobs, search of what is rare", [f"{base}q=job-09999", f"{base}q=shard+977"], 3)
    yield Question("jobs, search of what is not there", [f"{base}q=zebra"], 5)
    yield Question("jobs, search, by last_run_at", [f"{base}q=zebra&sort=-last_run_at"], 5)
    yield Question("jobs, search, total",
                   [f"{base}q=orders&total=true", f"{base}q=zebra&total=true"])
    yield Question("one job", [f"/api/v1/jobs/{one}" for one in some])
    yield Question("runs of a job", [f"/api/v1/jobs/{one}/runs" for one in some])
    yield Question("runs of a job with many", [f"/api/v1/jobs/{HOT}/runs?total=true"], 20)
    yield Question("statistics of a job", [f"/api/v1/jobs/{one}/statistics" for one in some])
    yield Question("statistics of a job with many runs", [f"/api/v1/jobs/{HOT}/statistics"])
    yield Question("next fires of a job", [f"/api/v1/jobs/{one}/fires?count=100" for one in some])
    yield Question("ledger of a job", [f"/api/v1/jobs/{one[:-1]}0/ledger" for one in some])
    yield Question("explain the last fire", [f"/api/v1/jobs/{one}/explain" for one in some])


def run_lists(data):
    base = "/api/v1/runs?"
    day = data.moment(5, 6).strftime("%Y-%m-%dT%H:%M:%SZ")
    next_hour = data.moment(121, 144).strftime("%Y-%m-%dT%H:%M:%SZ")
    for order in ("id", "ready_at", "finished_at"):
        yield Question(f"runs by {order}, page after page", [f"{base}sort={order}"], 20)
        yield Question(f"runs by {order}, the other way", [f"{base}sort=-{order}"], 20)
    filters = {"state=succeeded": "", "state=failed": "", "state=timed_out&state=failed": "",
               "state=running": "", "state=held": "", "job=job-000123": "", f"job={HOT}": "",
               "tenant=default": "", "tenant=tenant-5": "", "type=type-3": "",
               "category=imports": "", "creator=owner-3": "", "owner=node-1": "",
               "owner=nobody": "", "kind=queue": "", "kind=command": "", "trigger=manual": "",
               "trigger=backfill": "", f"parent={data.some_run}": "",
               f"finished_from={day}&finished_until={next_hour}": "a span of time"}
    for wish, name in filters.items():
        name = name or wish.replace("&", ", ")
        if "parent" in name:
            name = "parent"
        yield Question(f"runs, filter {name}", [f"{base}{wish}"], 3)
        yield Question(f"runs, filter {name}, total", [f"{base}{wish}&total=true&limit=1"])
        yield Question(f"runs, filter {name}, by -finished_at",
                       [f"{base}{wish}&sort=-finished_at"], 3)
    yield Question("runs, page of 500", [f"{base}limit=500"], 5)
    yield Question("runs, total", [f"{base}limit=1&total=true"])
    yield Question("runs, search of what is frequent", [f"{base}q=refused"], 3)
    yield Question("runs, search of what is rare", [f"{base}q=shard+9971"], 5)
    yield Question("runs, search of what is not there", [f"{base}q=zebra"], 5)
    yield Question("runs, search among failed", [f"{base}q=zebra&state=failed"], 5)
    yield Question("runs, search, total",
                   [f"{base}q=refused&total=true", f"{base}q=zebra&total=true"])
    yield Question("one run", [f"/api/v1/runs/{data.run_id_of(number * 7919 % data.runs)}"
                               for number in range(50)])


def other_lists(data):
    day = data.moment(5, 6).strftime("%Y-%m-%dT%H:%M:%SZ")
    audit = "/api/v1/audit?"
    for wish in ("", "user=user-3", "action=paused", "action=deleted", "resource_type=job",
                 "resource_type=run", "resource_type=job&resource_id=job-000123",
                 "resource_id=job-000123", "tenant=nobody", f"from={day}", f"until={day}",
                 f"user=user-3&from={day}"):
        name = wish.replace(day, "…").replace("&", ", ") or "all"
        yield Question(f"audit, {name}", [f"{audit}{wish}"], 5)
    yield Question("groups", ["/api/v1/groups"], 5)
    yield Question("one group",
                   [f"/api/v1/groups/group-{number:03}" for number in range(0, 200, 7)])
    yield Question("the group of most jobs", ["/api/v1/groups/default"])
    yield Question("calendars", ["/api/v1/calendars"])
    yield Question("one calendar", ["/api/v1/calendars/calendar-07"])
    yield Question("limits", ["/api/v1/limits"])
    yield Question("backfills", ["/api/v1/backfills"])
    yield Question("settings", ["/api/v1/settings"])
    yield Question("health and metrics", ["/health", "/metrics"])


def all_questions(data):
    yield from job_lists(data)
    yield from run_lists(data)
    yield from other_lists(data)
