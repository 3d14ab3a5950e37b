"""Writes exports, with which `ksana import` fills a store before the server starts."""
import datetime
import json
import subprocess

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
FAR = 3_786_912_000_000_000     # 2090-01-01 in microseconds: never during a benchmark
BODY = ('{"job":"0123456789abcdef","queue":"q","attempt":1,'
        '"payload":{"k":"vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv"}}')


def text_of(micros):
    return (EPOCH + datetime.timedelta(microseconds=micros)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def once(micros):
    return {"run_at": text_of(micros)}, micros


def every_second(start):
    return {"kind": "every", "every": "1s", "start_at": text_of(start)}, start


def yearly(month, year, index):
    """Returns a schedule that fires once a year in that month, each job at another minute."""
    minute, hour, day = index % 60, index // 60 % 24, 1 + index // 1440 % 28
    first = datetime.datetime(year, month, day, hour, minute, tzinfo=datetime.timezone.utc)
    return ({"kind": "cron", "cron": f"{minute} {hour} {day} {month} *"},
            int(first.timestamp()) * 1_000_000)


def job_line(job_id, url, schedule, now):
    plan, first = schedule
    made = text_of(now)
    return json.dumps({"job": {
        "id": job_id, "name": job_id, "type": "http",
        "http": {"method": "POST", "url": url, "headers": {"Content-Type": "application/json"},
                 "body": BODY},
        "schedule": plan, "retry": {"max_retries": 0}, "version": 1, "created_at": made,
        "updated_at": made, "planned_until": made, "next_run_at": text_of(first)}},
        separators=(",", ":"))


def import_jobs(binary, store, folder, now, jobs):
    """Fills the store, a new file, with jobs given as (id, url, schedule)."""
    path = folder / "jobs.export"
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{"ksana_export":1,"at":"{text_of(now)}","store":"benchmark"}}\n')
        for job_id, url, schedule in jobs:
            file.write(job_line(job_id, url, schedule, now) + "\n")
            count += 1
        file.write(f'{{"end":{{"jobs":{count},"runs":0,"attempts":0,"ledger":0,"events":0,'
                   '"documents":0}}\n')
    done = subprocess.run([binary, "import", "--store", f"sqlite:{store}", "--", path],
                          capture_output=True, text=True, check=False)
    path.unlink()
    if done.returncode:
        raise RuntimeError(f"ksana import: {done.stderr.strip()}")
