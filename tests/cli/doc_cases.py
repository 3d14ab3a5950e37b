#!/usr/bin/env python3
"""The commands of docs/cli.md, typed literally against a server with the demo:
doc_cases.py BINARY DOCUMENT

Every block of `sh` is a script of its own that must succeed; `ksana` is the built program.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from ksana_server import Failure, Server, check  # noqa: E402


def main():
    binary = os.path.abspath(sys.argv[1])
    text = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    server = Server(binary, "sqlite", flags=["--demo"])
    with tempfile.TemporaryDirectory(prefix="ksana_doc_") as folder:
        tools = pathlib.Path(folder, "bin")
        tools.mkdir()
        (tools / "ksana").symlink_to(binary)
        try:
            server.start()
            environment = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": folder,
                           "KSANA_SERVER": server.url, "EDITOR": "true", "TMPDIR": folder}
            check(blocks, "there are no commands")
            for block in blocks:
                script = block.replace("127.0.0.1:7100", f"127.0.0.1:{server.port}")
                ran = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder,
                                     env=environment, stdin=subprocess.DEVNULL,
                                     capture_output=True, text=True, timeout=60, check=False)
                check(ran.returncode == 0,
                      f"{block}\nexit {ran.returncode}\n{ran.stdout}{ran.stderr}")
            print(f"{sum(block.count('ksana ') for block in blocks)} commands")
        except Failure as failure:
            print(f"FAILED: {failure}\n{server.log()}", file=sys.stderr)
            return 1
        finally:
            server.close()
    return 0


sys.exit(main())
