#!/usr/bin/env python3
"""Commands that work on whole stores.

usage: store_cases.py KSANA [CASE…]

All records move from SQLite to PostgreSQL and back and stay the same. The program refuses a schema
of a later version, and leaves it unchanged. Every case gets a database of its own on the server of
KSANA_TEST_POSTGRES.
"""
import json
import sqlite3
import subprocess
import urllib.parse

from kit.cases import arguments, case, run
from kit.checks import contains, equal, matches
from kit.places import Place
from kit.postgres import new_database, psql, test_server

LATER = 99              # a version of the schema that does not exist yet
EXIT_CONFLICT = 5
RUNS = 1_200            # more than one page of an export
DEFAULTS = ({}, "", True, "scheduled", "missed")      # a record omits these values


def one_of_everything():
    """Yields the lines of an export that holds every kind of record, with texts that are hard to
    encode."""
    at = "2026-03-01T12:00:00.000001Z"
    run_ids = [f"01900000-0000-7000-8000-{n:012x}" for n in range(RUNS)]
    yield {"ksana_export": 1, "at": at, "store": "made by hand"}
    for name, action in (("http", {"http": {"url": "http://127.0.0.1/", "headers": {"X-A": "ä"}}}),
                         ("queue", {"queue": {"type": "mail", "payload": "{\"n\": 1}"}}),
                         ("command", {"command": {"argv": ["a", ""], "environment": {"A": "b"}}})):
        yield {"job": {"id": name, "name": "日报 \"\\\u2028", "type": name, **action,
                       "labels": {"team": "core", "": "empty"}, "enabled": name != "queue",
                       "schedule": {"kind": "cron", "cron": "0 9 * * MON", "zone": "Asia/Shanghai"},
                       "next_run_at": at, "version": 3, "total_runs": 7, "created_at": at}}
    states = ["scheduled", "queued", "succeeded", "failed"]
    for number, run_id in enumerate(run_ids):
        state = states[number % 4]
        end = {"finished_at": at} if state in ("succeeded", "failed") else {}
        yield {"run": {"id": run_id, "job_id": "http" if number % 2 else "", "type": "mail",
                       "payload": json.dumps({"n": number}), "created_at": at,
                       "selector": {"gpu": "yes"} if number % 3 == 0 else {},
                       "status": {"state": state, "ready_at": at, "attempt": 2, **end}}}
    yield {"attempt": {"run_id": run_ids[2], "number": 1, "error": "no route", "started_at": at}}
    yield {"ledger": {"seq": 1, "job_id": "http", "fate": "missed", "count": 12, "first": at,
                      "last": at, "recorded_at": at}}
    yield {"event": {"seq": 1, "at": at, "action": "created", "user": "ann", "data": "{}"}}
    yield {"document": {"kind": "setting", "key": "k", "body": "{\"hex\": \"00ff\"}"}}
    yield {"end": {"jobs": 3, "runs": RUNS, "attempts": 1, "ledger": 1, "events": 1,
                   "documents": 1}}


def records_of(path):
    """Returns the lines without the header, which holds the time and the store."""
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n")[1:]


class StoreCase(Place):
    def open(self):
        self.folder = self.new_folder("ksana_cli_")
        self.postgres = new_database("ksana_cli")
        name = urllib.parse.urlsplit(self.postgres).path[1:]
        self.callback(psql, test_server(), f"DROP DATABASE {name} WITH (FORCE)")
        self.sqlite = f"sqlite:{self.folder / 'ksana.db'}"

    def ksana(self, *words, expect=0):
        """Runs the program and returns its output. The exit code must be `expect`."""
        done = subprocess.run([self.given.ksana, *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)
        said = done.stdout + done.stderr
        equal(done.returncode, expect, f"ksana {' '.join(words)}\n{said}")
        return said


class Moves(StoreCase):
    def move(self, name, source, target):
        """Exports one store, imports the records into another, and returns the records."""
        path = self.folder / name
        self.ksana("export", "--store", source, "-o", str(path))
        self.ksana("import", "--store", target, str(path))
        return records_of(path)

    @case
    def test_everything_goes_to_postgresql_and_back(self):
        first = self.folder / "first.jsonl"
        lines = [json.dumps(line, ensure_ascii=False) for line in one_of_everything()]
        first.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.ksana("import", "--store", self.sqlite, str(first))
        there = self.move("there.jsonl", self.sqlite, self.postgres)
        again = f"sqlite:{self.folder / 'again.db'}"
        back = self.move("back.jsonl", self.postgres, again)
        self.ksana("export", "--store", again, "-o", str(self.folder / "last.jsonl"))
        equal(len(there), len(lines) - 1)
        equal(there, back)
        equal(there, records_of(self.folder / "last.jsonl"))
        self.assert_holds(records_of(first), there)
        said = self.ksana("import", "--store", self.postgres, str(first), expect=EXIT_CONFLICT)
        contains("the store is not empty", said)

    def assert_holds(self, written, stored):
        """Checks that the store holds everything that was written. Omitted members have their
        defaults."""
        key = lambda line: json.dumps([next(iter(line)), *[
            next(iter(line.values())).get(name) for name in ("id", "run_id", "key", "seq")]])
        found = {key(line): line for line in map(json.loads, stored)}
        for line in map(json.loads, written):
            (kind, said), = line.items()
            self.assert_part(said, found[key(line)][kind], key(line))

    def assert_part(self, said, there, where):
        if not isinstance(said, dict):
            return equal(said, there, where)
        for name, value in said.items():
            if value not in DEFAULTS:
                contains(name, there, where)
                self.assert_part(value, there[name], f"{where} {name}")


class LaterSchema(StoreCase):
    def refuse(self, store, state):
        """Checks that every command on the store says why it refuses, and changes nothing."""
        export = self.folder / "all.jsonl"
        self.ksana("export", "--store", "memory:", "-o", str(export))
        before = state()
        for words in (["migrate"], ["migrate", "--status"], ["export"], ["import", str(export)]):
            said = self.ksana(*words, "--store", store, expect=EXIT_CONFLICT)
            contains(f"schema version {LATER}", said)
            matches(said, "use (a newer|the later) program")
            equal(state(), before, words)

    @case
    def test_of_sqlite_is_refused(self):
        self.ksana("migrate", "--store", self.sqlite)
        path = self.folder / "ksana.db"
        database = sqlite3.connect(path)
        with database:
            database.execute("INSERT INTO ksana_schema VALUES (?, 'later', 0)", (LATER,))
        database.close()
        # No byte of the file or of its log changes. A read may create an empty log.
        self.refuse(self.sqlite, lambda: b"".join(
            part.read_bytes() for part in (path, self.folder / "ksana.db-wal") if part.exists()))

    @case
    def test_of_postgresql_is_refused(self):
        self.ksana("migrate", "--store", self.postgres)
        psql(self.postgres, f"INSERT INTO ksana.migrations VALUES ({LATER}, 'later')")
        self.refuse(self.postgres, self.dump)

    def dump(self):
        text = subprocess.run(["pg_dump", "-d", self.postgres], check=True, capture_output=True,
                              text=True).stdout
        # pg_dump guards its output with a random word.
        return [line for line in text.splitlines() if "restrict" not in line]


if __name__ == "__main__":
    given = arguments("KSANA")
    run(given, lambda one: one.owner(given))
