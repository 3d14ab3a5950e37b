#!/usr/bin/env python3
"""The curl commands of README.md, typed literally against a server with the demo.

usage: readme_cases.py KSANA README
"""
import os
import re
import subprocess
import sys

from ksana_server import Failure, Server, check


def commands(text):
    """Every block of shell that calls curl."""
    return [block for block in re.findall(r"```sh\n(.*?)```", text, re.S) if "curl " in block]


def main():
    binary, readme = os.path.abspath(sys.argv[1]), sys.argv[2]
    with open(readme, encoding="utf-8") as file:
        blocks = commands(file.read())
    server = Server(binary, "sqlite", flags=["--demo"])
    try:
        check(blocks, "README has no curl commands")
        server.start()
        for block in blocks:
            script = block.replace("127.0.0.1:7100", f"127.0.0.1:{server.port}")
            script = script.replace("curl ", "curl -sS --fail-with-body ")
            ran = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True,
                                 text=True, check=False)
            check(ran.returncode == 0, f"{block}\n{ran.stdout}{ran.stderr}")
        print(f"{sum(block.count('curl ') for block in blocks)} commands")
    except Failure as failure:
        print(f"FAILED: {failure}\n{server.log()}", file=sys.stderr)
        sys.exit(1)
    finally:
        server.close()


if __name__ == "__main__":
    main()
