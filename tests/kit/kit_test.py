#!/usr/bin/env python3
"""Tests the kit itself: the runner reports deliberate failures, and a failed wait names its event.

usage: kit_test.py [CASE...]
"""
import contextlib
import subprocess
import sys
import tempfile
import threading
import time

from kit.cases import arguments, case, run
from kit.checks import Failure, check, contains, equal, lacks
from kit.waiting import stays_so, wait_for, wait_on, wait_until

HEAD = """
import contextlib, sys
from kit.cases import add_case, arguments, case, run
from kit.checks import check

@case
def good(word): check(word == "here", word)

@case(variants=("one", "two"))
def twice(word): print("in", word)
"""
TAIL = """
given = arguments("WORD")
run(given, lambda one: contextlib.nullcontext(given.word), parallel=3)
"""


def suite(*words, planted="", head=HEAD, tail=TAIL):
    """Returns exit code and output of a small suite with the cases in `planted`."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
        file.write(head + planted + tail)
        file.flush()
        done = subprocess.run([sys.executable, file.name, *words], capture_output=True, text=True,
                              timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def failure_of(function, *words, **options):
    try:
        function(*words, **options)
    except Failure as failure:
        return str(failure)
    raise Failure("there was no failure")


@case
def all_cases_run_and_are_counted():
    code, text = suite("here")
    equal(code, 0, text)
    contains("3 of 3 cases passed", text)
    for name in ("good: ", "one twice: ", "two twice: "):
        contains(name, text)


@case
def a_failed_case_is_named_and_the_others_run():
    for end in ("check(False, 'planted')", "raise KeyError('planted')", "assert 'planted' == 1",
                "sys.exit(0)"):
        code, text = suite("here", planted=f"\n@case\ndef bad(word): {end}\n")
        equal(code, 1, text)
        contains("FAILED bad: ", text)
        contains("3 of 4 cases passed; failed: bad", text)
        check("planted" in text or "SystemExit" in text, text)


@case
def a_place_that_fails_is_a_failure():
    code, text = suite("here", tail='\nrun(arguments("WORD"), lambda one: open("/no/such/file"))\n')
    equal(code, 1, text)
    contains("0 of 3 cases passed; failed: good, one twice, two twice", text)


@case
def cases_are_chosen_by_name_and_variant():
    for words, passed in ((["good"], 1), (["twice"], 2), (["one"], 1), (["one twice"], 1),
                          (["good", "twice"], 3), (["two", "twice"], 1)):
        code, text = suite("here", *words)
        equal((code, f"{passed} of {passed} cases passed" in text), (0, True), f"{words} {text}")


@case
def a_name_of_no_case_fails():
    for words in (["none"], ["good", "none"], ["one", "good"]):
        code, text = suite("here", *words)
        equal(code, 2, text)
        contains(f"no case has the name {words[-1]}", text)
        lacks("passed", text)


@case
def a_run_without_cases_fails():
    code, text = suite("here", head="import contextlib\nfrom kit.cases import arguments, run\n")
    equal(code, 1, text)
    contains("0 of 0 cases passed", text)
    code, text = suite("--list", head="from kit.cases import arguments, run\n")
    equal(code, 1, text)


@case
def a_missing_word_fails():
    code, text = suite()
    equal(code, 2, text)
    contains("usage: ", text)


@case
def names_are_listed():
    equal(suite("--list"), (0, "good\none twice\ntwo twice\n"), "names")


@case
def two_cases_of_one_name_fail():
    code, text = suite("here", planted="\n@case\ndef good(word): pass\n")
    equal(code, 1, text)
    contains("two cases have the name good", text)


@case
def a_wait_says_what_was_awaited():
    contains("waited 0.05 s for the moon; last seen: 7",
             failure_of(wait_for, lambda: 7, lambda seen: seen > 7, "the moon", within=0.05))
    contains("waited 0.05 s for the sun", failure_of(wait_until, lambda: False, lambda: "the sun",
                                                     within=0.05))
    contains("waited 0.05 s for a line", failure_of(wait_on, threading.Condition(), lambda: None,
                                                    "a line", within=0.05))
    contains("silence did not last for 5 s", failure_of(stays_so, lambda: False, "silence", 5))


@case
def a_wait_ends_with_its_event():
    began = time.monotonic()
    looks = iter([0, 0, 5])
    equal(wait_until(lambda: next(looks), "a look"), 5, "value")
    equal(wait_for(lambda: 3, lambda seen: seen == 3, "three"), 3, "value")

    def refused():
        if time.monotonic() - began < 0.1:
            raise ConnectionRefusedError("not yet")
        return "there"

    equal(wait_until(refused, "an answer", ignoring=OSError), "there", "after refusals")
    contains("not yet", failure_of(wait_until, raise_not_yet, "an answer", within=0.05,
                                   ignoring=OSError))
    stays_so(lambda: True, "the truth", 0.05)
    check(time.monotonic() - began < 10, "waits go on after their event")


def raise_not_yet():
    raise OSError("not yet")


@case
def an_error_of_a_look_ends_the_wait():
    began = time.monotonic()
    equal(failure_of(wait_until, lambda: check(False, "broken"), "an answer"), "broken", "text")
    check(time.monotonic() - began < 10, "it waited")


if __name__ == "__main__":
    run(arguments(""), lambda _: contextlib.nullcontext(()))
