"""A server for tasks, and the program that loads it: ksana_queue_load."""
import contextlib
import json
import subprocess

from machine import BUILD, ROOT, folder, ksana, ksana_on

LOAD = BUILD / "bench" / "bench" / "queue" / "ksana_queue_load"
START_POSTGRES = ROOT / "tests" / "support" / "start_postgres.sh"
NO_WORKERS = 1      # all tasks are for agents


@contextlib.contextmanager
def postgres_in(place):
    """Runs PostgreSQL with its data in a folder, and yields its URL."""
    place.chmod(0o755)      # PostgreSQL runs as another user
    done = subprocess.run(["bash", START_POSTGRES, place / "postgres"], capture_output=True,
                          text=True, check=True)
    try:
        yield done.stdout.strip()
    finally:
        subprocess.run(["bash", START_POSTGRES, "stop", place / "postgres"], check=True)


@contextlib.contextmanager
def server_on(store):
    """Starts a server with an empty store of this kind."""
    with folder() as place:
        if store == "SQLite":
            with ksana(place / "ksana.db", NO_WORKERS) as server:
                yield server
            return
        with postgres_in(place) as url, ksana_on(place, url, NO_WORKERS) as server:
            yield server


def start_load(server, *words):
    return subprocess.Popen([LOAD, str(server.port), *map(str, words)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def answer_of(process):
    out, errors = process.communicate(timeout=300)
    if process.returncode:
        raise RuntimeError(f"ksana_queue_load: {errors.strip()}")
    return json.loads(out)


def load(server, *words):
    return answer_of(start_load(server, *words))


def drained(servers, count, agents, batch=500):
    """Returns tasks a second over all agents, from the first task to the last. The agents take
    the servers by turns."""
    processes = [start_load(servers[n % len(servers)], "drain", count, batch)
                 for n in range(agents)]
    found = [answer_of(process) for process in processes]
    done = sum(one["count"] for one in found)
    if done < count:
        raise RuntimeError(f"{done} of {count} were done")
    busy = [one for one in found if one["count"]]
    span = max(one["last_ns"] for one in busy) - min(one["first_ns"] for one in busy)
    return done / (span / 1e9)
