#!/usr/bin/env python3
"""Runs the curl commands of a document literally against a server with the demo.

usage: readme_cases.py KSANA DOCUMENT
"""
import subprocess

from kit.cases import arguments, case, run, say
from kit.checks import check
from kit.documents import fenced_blocks
from kit.server import Server


@case
def the_curl_commands_of_the_document_succeed(server):
    blocks = [block for block in fenced_blocks(given.document, "sh") if "curl " in block]
    check(blocks, f"{given.document} has no curl commands")
    server.start()
    for block in blocks:
        script = block.replace("127.0.0.1:7100", f"127.0.0.1:{server.port}")
        script = script.replace("curl ", "curl -sS --fail-with-body ")
        ran = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True,
                             text=True, check=False)
        check(ran.returncode == 0, f"{block}\n{ran.stdout}{ran.stderr}")
    say(f"{sum(block.count('curl ') for block in blocks)} commands")


if __name__ == "__main__":
    given = arguments("KSANA DOCUMENT")
    run(given, lambda _: Server(given.ksana, "sqlite", flags=["--demo"]))
