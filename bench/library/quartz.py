"""Quartz with RAMJobStore, by the harness in ../shared/bench/peers (java/QuartzBench.java) and the
jar of Debian's libquartz2-java."""
import json
import subprocess

from machine import BUILD
from peers import PEERS

JARS = "/usr/share/java/quartz2.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar"
CLASSES = BUILD / "bench-peers-library"
NEEDED = PEERS / "java" / "QuartzBench.java"


def prepare():
    """Compiles the harness. Returns a text that says why there is none, or None."""
    if not NEEDED.exists():
        return "../shared/bench/peers is not there"
    CLASSES.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(["javac", "-cp", JARS, "-d", CLASSES, NEEDED], check=True, timeout=120,
                       capture_output=True, text=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f"it did not compile ({error})"
    return None


def run(workload, count, threads):
    """Runs a workload of the harness. Returns {metric: value}."""
    done = subprocess.run(["java", "-cp", f"{CLASSES}:{JARS}", "QuartzBench", workload, "ram",
                           str(count), str(threads)], capture_output=True, text=True, timeout=300,
                          check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {row["metric"]: row["value"] for row in rows}
