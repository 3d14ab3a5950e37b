#!/usr/bin/env python3
"""Runs the commands of a document literally against a server with the demo.

usage: doc_cases.py KSANA DOCUMENT

Every `sh` block is a separate script that must succeed; `ksana` is the built program.
"""
import os
import subprocess

from kit.cases import arguments, case, run, say
from kit.checks import check
from kit.documents import fenced_blocks
from kit.places import Place
from kit.server import Server


class Document(Place):
    def open(self):
        self.folder = self.new_folder("ksana_doc_")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "ksana").symlink_to(self.given.ksana)
        self.server = self.enter_context(Server(self.given.ksana, "sqlite", flags=["--demo"]))
        self.server.start()


@case
def the_commands_of_the_document_succeed(document):
    server, folder = document.server, str(document.folder)
    blocks = fenced_blocks(document.given.document, "sh")
    check(blocks, "the document has no commands")
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": folder,
                   "KSANA_SERVER": server.url, "EDITOR": "true", "TMPDIR": folder}
    for block in blocks:
        script = block.replace("127.0.0.1:7100", f"127.0.0.1:{server.port}")
        ran = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder,
                             env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=60, check=False)
        check(ran.returncode == 0, f"{block}\nexit {ran.returncode}\n{ran.stdout}{ran.stderr}")
    say(f"{sum(block.count('ksana ') for block in blocks)} commands")


if __name__ == "__main__":
    words = arguments("KSANA DOCUMENT")
    run(words, lambda _: Document(words))
