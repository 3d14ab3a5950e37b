"""The checks of a case, and the exception that a failed check raises."""
import re


class Failure(Exception):
    """A check of a case failed."""


def fail(message):
    raise Failure(message)


def check(condition, message="the condition does not hold"):
    if not condition:
        raise Failure(message)


def equal(actual, expected, what="value"):
    check(actual == expected, f"{what}: {actual!r} instead of {expected!r}")


def contains(part, whole, what="text"):
    check(part in whole, f"{what}: {part!r} is not in {whole!r}")


def lacks(part, whole, what="text"):
    check(part not in whole, f"{what}: {part!r} is in {whole!r}")


def matches(text, pattern, what="text"):
    check(re.search(pattern, text), f"{what}: {text!r} does not match {pattern!r}")
