"""A place for a case: a folder, a target, and servers that end with it; and who runs the cases."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from ksana_server import PATIENCE, Failure, Server, Target, check

PARALLEL = 3


class Place:
    """A folder for a case, with a target; the servers started here end with it."""

    def __init__(self, binary):
        self.binary, self.servers = binary, []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ksana_run_"))
        self.target = Target()

    def server(self, environment=None, flags=(), store="sqlite"):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="server_", dir=self.folder))
        folder.chmod(0o755)
        server = Server(self.binary, store, folder=str(folder), environment=environment,
                        flags=flags)
        self.servers.append(server)
        return server

    def refusal(self, environment=None, flags=(), store="sqlite", patience=PATIENCE, wrapper=()):
        """Exit code and message of a server that must not start."""
        server = self.server(environment, flags, store)
        try:
            done = subprocess.run([*wrapper, self.binary, "server", *flags], cwd=server.folder,
                                  env=server.environment, capture_output=True, text=True,
                                  timeout=patience, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"{environment} {flags}: it has started") from None
        check("is ready" not in done.stderr, f"it was ready: {done.stderr}")
        return done.returncode, done.stderr

    def file(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return str(path)

    def close(self):
        self.target.close()
        for server in self.servers:
            server.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def run_case(binary, function):
    place = Place(binary)
    start = time.monotonic()
    try:
        function(place)
        print(f"{function.__name__}: {time.monotonic() - start:.1f} s")
        return True
    except Exception:       # whatever it is: what the servers said belongs to it
        logs = "".join(server.log() for server in place.servers)
        print(f"FAILED {function.__name__}: {traceback.format_exc()}\n{logs}",
              file=sys.stderr)
        return False
    finally:
        place.close()


def run_cases(cases, longest):
    """Those that the command line names, or all: KSANA [CASE…]. Exits."""
    binary, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    chosen = [function for function in cases if not wanted or function.__name__ in wanted]
    # The longest first, so that the others run beside them.
    chosen.sort(key=lambda function: function not in longest)
    with ThreadPoolExecutor(PARALLEL) as pool:
        passed = list(pool.map(lambda function: run_case(binary, function), chosen))
    print(f"{sum(passed)} of {len(passed)} cases")
    sys.exit(0 if passed and all(passed) else 1)
