#!/usr/bin/env python3
"""Runs a command with a PgBouncer of its own: with_pgbouncer.py COMMAND ARGUMENT…

PgBouncer pools transactions for the server of KSANA_TEST_POSTGRES: each transaction may get another
connection, and there are fewer connections than clients. The command finds the URL of PgBouncer in
KSANA_TEST_POOLER. The exit code is that of the command. PYTHONPATH must be the folder tests/."""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import urllib.parse

from kit.checks import check
from kit.waiting import wait_until

SETTINGS = """
[databases]
{database} = host={host} port={server_port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
log_connections = 0
log_disconnections = 0
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_port(pooler, port):
    def listens():
        check(pooler.poll() is None, "pgbouncer has ended")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens, "pgbouncer to listen", within=20)


@contextlib.contextmanager
def pgbouncer(url):
    """Starts PgBouncer in front of a database and gives its URL."""
    server, port = urllib.parse.urlsplit(url), free_port()
    database = server.path.strip("/")
    with tempfile.TemporaryDirectory() as folder:
        settings = pathlib.Path(folder, "pgbouncer.ini")
        settings.write_text(SETTINGS.format(database=database, host=server.hostname, port=port,
                                            server_port=server.port, user=server.username))
        os.chmod(folder, 0o755)
        command = ["/usr/sbin/pgbouncer", "-q", str(settings)]
        if os.getuid() == 0:  # PgBouncer refuses to run as root
            command[1:1] = ["-u", "postgres"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as pooler:
            try:
                await_port(pooler, port)
                yield f"postgresql://{server.username}@127.0.0.1:{port}/{database}"
            finally:
                pooler.terminate()


def main():
    server = os.environ.get("KSANA_TEST_POSTGRES") or sys.exit(
        "KSANA_TEST_POSTGRES names no server: tests/support/start_postgres.sh FOLDER")
    with pgbouncer(server) as url:
        return subprocess.run(sys.argv[1:], check=False,
                              env={**os.environ, "KSANA_TEST_POOLER": url}).returncode


if __name__ == "__main__":
    sys.exit(main())
