"""Runs the cases of a file one after the other, each in a world of its own."""
import os
import sys
import time
import traceback


def run_in_worlds(cases, make_world):
    """Those that the command line names, or all: KSANA STORE DOCS [CASE…], each by
    function(make_world(KSANA, STORE, DOCS)). Exits."""
    binary, store, docs = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    wanted = sys.argv[4:]
    failures = 0
    for function in cases:
        if wanted and function.__name__ not in wanted:
            continue
        world = make_world(binary, store, docs)
        start = time.monotonic()
        try:
            function(world)
            print(f"{function.__name__}: {time.monotonic() - start:.1f} s")
        except Exception:  # whatever it is: what the server said belongs to it
            failures += 1
            log = world.server.log() if world.server else ""
            print(f"FAILED {function.__name__}: {traceback.format_exc()}\n{log}", file=sys.stderr)
        finally:
            world.close()
    sys.exit(1 if failures else 0)
