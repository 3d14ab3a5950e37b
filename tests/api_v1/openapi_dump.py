#!/usr/bin/env python3
"""Starts the built server and writes the description that it serves into a file.

usage: openapi_dump.py KSANA FILE
"""
import json
import os
import sys

from kit.postgres import store_of
from kit.server import Server


def main():
    with Server(os.path.abspath(sys.argv[1]), store_of("json")) as server:
        server.start()
        document = server.call("GET", "/api/v1/openapi.json")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()
