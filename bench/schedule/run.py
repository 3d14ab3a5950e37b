#!/usr/bin/env python3
"""Benchmark of cron next(): Ksana, the bit-mask limit and three rivals in one run, as ratios.

    ./dev bench schedule            prints the table
    ./dev bench schedule --save     also writes bench/results/schedule.md

The rivals and the limit come from ../shared/bench/peers, copied into build/ and installed there by
package name; without that folder only Ksana is measured, and the table says so.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEERS = ROOT.parent / "shared" / "bench" / "peers"
WORK = ROOT / "build" / "bench-peers"
BENCH = ROOT / "build" / "bench" / "bench" / "schedule" / "schedule_bench"
JARS = "/usr/share/java/quartz2.jar:/usr/share/java/slf4j-api.jar:/usr/share/java/slf4j-nop.jar"

# Expressions of workload W6, and their largest allowed cost (goal G7) in nanoseconds.
COMMON, SPARSE = ["*/5 * * * *", "0 3 * * 1"], ["0 0 29 2 *"]
GOAL = {"common": 100, "sparse": 400, "zone": 300}
AT_LEAST = {"quartz": 10, "croner": 80, "cron-parser": 80}


def rows(command, cwd=None, env=None):
    """Runs a program that prints JSON lines, and returns them."""
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def prepare_peers():
    """Copies the harness, whose folder may be read-only, and installs what W6 needs."""
    shutil.copytree(PEERS, WORK, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("node_modules", "build", "results"))
    for path in [WORK, *WORK.rglob("*")]:
        if "node_modules" not in path.parts:
            path.chmod(path.stat().st_mode | 0o200)
    versions = json.loads((WORK / "package.json").read_text())["dependencies"]
    wanted = [f"{name}@{versions[name]}" for name in ("croner", "cron-parser")]
    (WORK / "package.json").write_text('{"private": true, "type": "module"}\n')
    quiet = {"stdout": subprocess.DEVNULL, "check": True, "cwd": WORK}
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *wanted], **quiet)
    (WORK / "build").mkdir(exist_ok=True)
    subprocess.run(["javac", "-cp", JARS, "-d", "build", "java/QuartzBench.java"], **quiet)
    subprocess.run(["g++", "-std=c++20", "-O2", "-pthread", "native/inproc.cpp", "-o",
                    "build/inproc"], **quiet)


def peer_rows():
    prepare_peers()
    found = rows([WORK / "build" / "inproc", "cron"])
    found += rows(["java", "-cp", f"{WORK / 'build'}:{JARS}", "QuartzBench", "cron"])
    found += rows(["node", "node/cron.mjs", "20000"], cwd=WORK)
    return [row for row in found if row["workload"] == "cron-next"]


def table(header, lines):
    text = "| " + " | ".join(header) + " |\n|" + "---|" * len(header) + "\n"
    return text + "".join("| " + " | ".join(line) + " |\n" for line in lines)


def verdict(ok):
    return "met" if ok else "**missed**"


def report(ours, peers):
    mine = {(r["expr"], r["zone"]): r for r in ours if r["workload"] == "cron-next"}
    problems, text = [], "## Cron next(), nanoseconds a call\n\n"
    lines = []
    for (expr, zone), row in mine.items():
        kind = "sparse" if expr in SPARSE else "common"
        goal = GOAL[kind] if zone == "UTC" else (GOAL["zone"] if kind == "common" else None)
        met = goal is None or row["value"] <= goal
        if not met:
            problems.append(f"{expr} in {zone}: {row['value']:.0f} ns, goal {goal}")
        lines.append([f"`{expr}`", zone, f"{row['value']:.0f}", str(goal or "-"),
                      verdict(met) if goal else "-"])
    text += table(["expression", "zone", "ns", "goal", ""], lines)

    text += "\n## Against the limit and the rivals (UTC, same instants, same run)\n\n"
    if not peers:
        text += "Not measured: ../shared/bench/peers is not there.\n"
    lines = []
    for row in peers:
        own = mine[(row["expr"], "UTC")]
        ratio = row["value"] / own["value"]
        least = AT_LEAST.get(row["peer"].split("/")[0])
        if "check" in row and row["check"] != own["check"]:
            problems.append(f"{row['peer']} answers {row['expr']} differently")
        if least and ratio < least:
            problems.append(f"{row['peer']} {row['expr']}: {ratio:.1f}x, goal {least}x")
        lines.append([row["peer"], f"`{row['expr']}`", f"{row['value']:.0f}",
                      f"{own['value']:.0f}", f"{ratio:.1f}x", f"{least}x" if least else "-"])
    if lines:
        text += table(["who", "expression", "ns", "Ksana ns", "Ksana is faster by", "goal"], lines)
        text += "\nThe checksums over the first 20,000 answers agree.\n"

    text += "\n## Parsing, and planning after ten years of downtime of a one-second job\n\n"
    rest = [r for r in ours if r["workload"] != "cron-next"]
    text += table(["what", "expression", "zone", "ns"],
                  [[r["workload"], f"`{r['expr']}`", r["zone"] or "-", f"{r['value']:.0f}"]
                   for r in rest])
    return text, problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    ours = rows([BENCH])
    peers = peer_rows() if PEERS.is_dir() else []
    text, problems = report(ours, peers)
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), platform.machine())
    head = (f"# Benchmark: schedule\n\n{datetime.date.today()}, {os.cpu_count()} cores, {cpu}. "
            "Command: `./dev bench schedule --save`. Use the ratios, not the absolute numbers.\n\n")
    print(text)
    for problem in problems:
        print("goal missed:", problem)
    if options.save:
        missed = "".join(f"- {p}\n" for p in problems) or "All goals of G7 are met.\n"
        (ROOT / "bench" / "results" / "schedule.md").write_text(head + text + "\n" + missed)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
