"""Runs the cases of a file on one kind of store, each with a server and a target of its own."""
import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

from ksana_server import Server, Target, equal, store_of

PARALLEL = 3


def run_case(binary, kind, function, call, environment, flags):
    target = Target()
    server = Server(binary, store_of(kind), environment={"WORKERS": "16", **environment},
                    flags=flags)
    try:
        server.start()
        call(function, server, target)
        target.released.set()
        equal(server.stop(), 0, "exit code")
        return True
    except Exception:       # whatever it is: what the server said belongs to it
        print(f"FAILED {function.__name__}: {traceback.format_exc()}\n{server.log()}",
              file=sys.stderr)
        return False
    finally:
        target.close()
        server.close()


def run_on_store(cases, call, environment=None, flags=()):
    """Those that the command line names, or all: KSANA STORE [CASE…], each by call(function,
    server, target). Exits."""
    binary, kind, wanted = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    chosen = [function for function in cases if not wanted or function.__name__ in wanted]
    # They mostly wait.
    with ThreadPoolExecutor(PARALLEL) as pool:
        passed = list(pool.map(
            lambda function: run_case(binary, kind, function, call, environment or {}, flags),
            chosen))
    print(f"{kind}: {sum(passed)} of {len(passed)} cases")
    sys.exit(0 if passed and all(passed) else 1)
