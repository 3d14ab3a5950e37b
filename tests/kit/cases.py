"""Cases and the runner: @case registers a case, arguments() reads the command line, run() runs.

    @case
    def a_job_is_created(server):
        ...

    if __name__ == "__main__":
        given = arguments("KSANA STORE")
        run(given, place)

`place(case)` returns a context manager; its value is the argument of the case, or the tuple of its
arguments. A case that is a method is registered as Class.method.

The command line is: the words that the suite names, then names of cases (none: all cases run).
`--list` prints the names. The exit code is 0 only if at least one case ran and all passed.
"""
import os
import signal
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from kit.checks import check

REGISTRY = {}           # name: Case, in the order of registration
PRINTING = threading.Lock()


class Case:
    """A function with its name and the options of its @case."""

    def __init__(self, function, name, variant, options):
        self.function, self.variant, self.options = function, variant, options
        self.plain_name = name
        self.name = f"{variant} {name}" if variant else name

    @property
    def owner(self):
        """Returns the class of a case that is a method."""
        return self.function.__globals__[self.function.__qualname__.partition(".")[0]]


def add_case(function, name=None, variant=None, **options):
    made = Case(function, name or function.__qualname__, variant, options)
    check(made.name not in REGISTRY, f"two cases have the name {made.name}")
    REGISTRY[made.name] = made


def case(function=None, *, variants=(None,), **options):
    """Registers a case: @case, or @case(option=value). Suites read the options from
    Case.options. With `variants`, the function is one case for each variant. `first=True` marks
    the longest cases of a suite that runs several in parallel: they start first."""
    def add(function):
        for variant in variants:
            add_case(function, variant=variant, **options)
        return function
    return add if function is None else add(function)


def say(text, stream=None):
    with PRINTING:
        print(text, file=stream or sys.stdout, flush=True)


def refuse(message):
    say(message, sys.stderr)
    sys.exit(2)


def arguments(words, optional=""):
    """Returns the words of the command line by their names in lower case, and in `cases` the
    cases that the remaining words select. KSANA, the path of the program, becomes absolute.
    Exits with 2 if a word is missing or names no case. The suite must register its cases first."""
    given, rest = SimpleNamespace(), sys.argv[1:]
    if rest == ["--list"]:
        for name in REGISTRY:
            say(name)
        sys.exit(0 if REGISTRY else 1)
    names = words.split()
    if len(rest) < len(names):
        refuse(" ".join(["usage:", sys.argv[0], *names,
                         *(f"[{name}]" for name in optional.split()), "[CASE...]"]))
    for name in names:
        setattr(given, name.lower(), rest.pop(0))
    for name in optional.split():
        setattr(given, name.lower(), rest.pop(0) if rest else None)
    if "KSANA" in names:
        given.ksana = os.path.abspath(given.ksana)
    given.cases = chosen(rest)
    return given


def chosen(wanted):
    """Returns the cases with these names, or all cases. A word that names a variant restricts
    the result to that variant."""
    variants = {one.variant for one in REGISTRY.values() if one.variant in wanted}
    found = [one for one in REGISTRY.values() if not variants or one.variant in variants]
    names = [word for word in wanted if word not in variants]
    for name in names:
        if not any(name in (one.name, one.plain_name) for one in found):
            refuse(f"no case has the name {name}; --list shows all names")
    return [one for one in found if not names or one.name in names or one.plain_name in names]


def run_one(one, place):
    """Runs one case and returns whether it passed. SystemExit counts as a failure, so that a
    case cannot end the run."""
    began = time.monotonic()
    try:
        with place(one) as made:
            one.function(*(made if isinstance(made, tuple) else (made,)))
    except KeyboardInterrupt:
        raise
    except BaseException:
        say(f"FAILED {one.name}: {traceback.format_exc()}", sys.stderr)
        return False
    say(f"{one.name}: {time.monotonic() - began:.1f} s")
    return True


def run(given, place, parallel=1):
    """Runs the chosen cases, `parallel` at a time, prints a summary line, and exits."""
    # A shell starts background commands with SIGINT ignored. The servers would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cases = sorted(given.cases, key=lambda one: not one.options.get("first"))
    if parallel == 1:
        passed = [run_one(one, place) for one in cases]
    else:
        with ThreadPoolExecutor(parallel) as pool:
            passed = list(pool.map(lambda one: run_one(one, place), cases))
    failed = [one.name for one, good in zip(cases, passed) if not good]
    summary = f"{sum(passed)} of {len(cases)} cases passed"
    say(f"{summary}; failed: {', '.join(failed)}" if failed else summary)
    sys.exit(0 if cases and not failed else 1)
