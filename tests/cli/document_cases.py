#!/usr/bin/env python3
"""The commands of a document, typed literally against a server with the demo.

usage: document_cases.py KSANA DOCUMENT
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "server"))
from ksana_server import Failure, Server, check  # noqa: E402


def main():
    binary, document = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
    blocks = re.findall(r"```sh\n(.*?)```", document.read_text(), re.S)
    folder = tempfile.mkdtemp(prefix="ksana_document_")
    os.mkdir(f"{folder}/bin")
    os.symlink(binary, f"{folder}/bin/ksana")
    server = Server(binary, "sqlite", flags=["--demo"])
    try:
        check(any("ksana " in block for block in blocks), f"{document} has no commands")
        server.start()
        for block in blocks:
            script = block.replace("127.0.0.1:7100", f"127.0.0.1:{server.port}")
            ran = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True,
                                 text=True, check=False, cwd=folder, timeout=120,
                                 stdin=subprocess.DEVNULL,
                                 env={"PATH": f"{folder}/bin:{os.environ['PATH']}",
                                      "KSANA_SERVER": server.url, "PORT": str(server.port),
                                      "HOME": folder})
            check(ran.returncode == 0, f"{block}\n{ran.stdout}{ran.stderr}")
        print(f"{sum(block.count('ksana ') for block in blocks)} commands")
    except Failure as failure:
        print(f"FAILED: {failure}\n{server.log()}", file=sys.stderr)
        sys.exit(1)
    finally:
        server.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
