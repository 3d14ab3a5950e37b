"""Waiting for an event, with a deadline. No other file of the tests has a deadline loop.

A wait that is too long raises a Failure that names the awaited event, the time that it was given
and the last value that was seen.
"""
import time

from kit.checks import Failure

PATIENCE = 30           # seconds; an event that has not happened by then counts as missing
PAUSE = 0.01            # seconds between two polls


def wait_for(look, is_so, what, within=PATIENCE, pause=PAUSE, ignoring=()):
    """Calls `look` until `is_so` accepts its value, and returns that value.

    what      the awaited event, for the failure text; or a function that returns it
    ignoring  exceptions of `look` that mean "not yet"
    """
    deadline = time.monotonic() + within
    while True:
        # Looks once more after the deadline: this process itself may have been delayed.
        last_look = time.monotonic() >= deadline
        try:
            value = look()
            if is_so(value):
                return value
        except ignoring as error:
            value = error
        if last_look:
            seen = "" if value is None or value is False else f"; last seen: {value!r}"
            raise Failure(f"waited {within:g} s for {text_of(what)}{seen}")
        time.sleep(pause)


def wait_until(predicate, what, within=PATIENCE, pause=PAUSE, ignoring=()):
    """Calls `predicate` until its value is true, and returns that value."""
    return wait_for(predicate, bool, what, within, pause, ignoring)


def wait_on(condition, predicate, what, within=PATIENCE):
    """Like wait_until, without polling: another thread notifies the threading.Condition."""
    with condition:
        value = condition.wait_for(predicate, within)
        if not value:
            raise Failure(f"waited {within:g} s for {text_of(what)}")
        return value


def stays_so(predicate, what, during, pause=PAUSE):
    """Checks for `during` seconds that `predicate` holds, and fails as soon as it does not. For
    events that must not happen."""
    end = time.monotonic() + during
    while True:
        last_look = time.monotonic() >= end
        if not predicate():
            raise Failure(f"{text_of(what)} did not last for {during:g} s")
        if last_look:
            return
        time.sleep(pause)


def let_pass(seconds, why):
    """Sleeps. For cases only in which the time itself is under test or must vary; `why` tells
    the reader the reason."""
    del why
    time.sleep(seconds)


def text_of(what):
    return what() if callable(what) else what
