#!/usr/bin/env python3
"""An independent, deliberately naive oracle for Ksana's cron engine.

It is written from the text of the contract alone and shares nothing with the C++ code. An
expression becomes plain sets of numbers and predicates on a date; the search walks local dates one
by one, then every matching wall-clock time of a date. Simplicity comes before speed.

    cron_oracle.py check FILE...      verify case files (a file named invalid.txt: refusals)
    cron_oracle.py next [--tz Z] [--count N] [--gap G] [--fold F] [--day-match M]
                        [--dialect D] --from T -- EXPR

Exit code: 0 if all cases pass, 1 on a mismatch or a refused expression, 2 on wrong usage.
"""

import argparse
import calendar
import functools
import itertools
import os
import re
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

MAX_BYTES = 1024
LIBRARY_HORIZON = timedelta(days=370)
# The Gregorian calendar repeats after 400 years (146097 days), so a day that is not found in
# that time is never found.
HORIZON = timedelta(days=146097 + 366)
# Local time and UTC are never further apart than this (Manila once was at -15:56).
MAX_OFFSET = timedelta(hours=16)

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()

MACROS = {
    "@YEARLY": "0 0 1 1 *", "@ANNUALLY": "0 0 1 1 *", "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0", "@DAILY": "0 0 * * *", "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
}

CHOICES = {
    "gap": ("run_after", "skip"),
    "fold": ("first", "second", "both"),
    "day_match": ("or", "and"),
    "dialect": ("standard", "library"),
}


class CronError(Exception):
    """A refused expression; the fault lies between the byte offsets [start, end]."""

    def __init__(self, message, start, end):
        super().__init__(message)
        self.start = start
        self.end = end


class Bad(Exception):
    """A refused item; becomes a CronError once its position is known."""


class Field:
    """The values that one field of an expression may hold."""

    def __init__(self, name, low, high, steps, names=(), name_base=0):
        self.name = name
        self.low = low
        self.high = high
        self.steps = steps  # the largest step: the number of different values
        self.names = names
        self.name_base = name_base


def fields_of(dialect):
    """Returns the six fields of a dialect, seconds first."""
    standard = dialect == "standard"
    return [
        Field("second", 0, 59, 60),
        Field("minute", 0, 59, 60),
        Field("hour", 0, 23, 24),
        Field("day", 1, 31, 31),
        Field("month", 1, 12, 12, MONTHS if standard else (), 1),
        Field("weekday", 0, 7 if standard else 6, 7, WEEKDAYS if standard else (), 0),
    ]


# Values, ranges and steps

def value_of(text, field):
    """Returns the number of a value: digits, or a three-letter name if the field has names."""
    if re.fullmatch("[0-9]+", text):
        number = int(text)
        if not field.low <= number <= field.high:
            raise Bad(f"{field.name} {number} is out of range")
        return number
    if text.upper() in field.names:
        return field.names.index(text.upper()) + field.name_base
    raise Bad(f"'{text}' is no {field.name}")


def range_end(text, first, field):
    """Returns the end of a range. The name SUN ends a week that began on a later day (FRI-SUN)."""
    last = value_of(text, field)
    if field.name == "weekday" and text.upper() == "SUN" and first > 0:
        last = 7
    if last < first:
        raise Bad("the range runs backwards")
    return last


def numbers_of(item, field, dialect):
    """Returns the values of a plain item: `*`, `a`, `a-b`, each optionally with `/n`."""
    match = re.fullmatch(r"(\*|[0-9A-Za-z]+)(-[0-9A-Za-z]+)?(/[0-9]+)?", item)
    if not match:
        raise Bad(f"'{item}' is no {field.name} item")
    head, tail, step = match.groups()
    if head == "*":
        if tail:
            raise Bad("a star begins no range")
        first, last = field.low, field.high
    else:
        first = value_of(head, field)
        if tail:
            last = range_end(tail[1:], first, field)
        elif step:
            if dialect == "library":
                raise Bad("a step needs a star or a range here")
            last = field.high
        else:
            last = first
    by = int(step[1:]) if step else 1
    if not 1 <= by <= field.steps:
        raise Bad(f"step {by} is out of range")
    return list(range(first, last + 1, by))


# Days: every item of the two day fields becomes a predicate on a date

def month_length(day):
    return calendar.monthrange(day.year, day.month)[1]


def cron_weekday(day):
    """0 is Sunday, 6 is Saturday."""
    return day.isoweekday() % 7


def nearest_workday(number, day):
    """Returns the day that `nW` means in the month of `day`; None if the month has no day n."""
    length = month_length(day)
    if number > length:
        return None
    weekday = cron_weekday(date(day.year, day.month, number))
    if weekday == 6:
        return 3 if number == 1 else number - 1
    if weekday == 0:
        return number - 2 if number == length else number + 1
    return number


def last_workday(day):
    """Returns the last Monday-to-Friday day of the month."""
    number = month_length(day)
    while cron_weekday(date(day.year, day.month, number)) in (0, 6):
        number -= 1
    return number


def day_question(item, field, dialect):
    """Returns one item of the day-of-month field as a function date -> bool."""
    if dialect == "standard":
        text = item.upper()
        if text == "?":
            return lambda day: True
        if text == "LW":
            return lambda day: day.day == last_workday(day)
        match = re.fullmatch("L(-[0-9]+)?", text)
        if match:
            back = int(match[1][1:]) if match[1] else 0
            if back > 30:
                raise Bad("L-n goes back 30 days at most")
            return lambda day: day.day == month_length(day) - back
        match = re.fullmatch("([0-9]+)W", text)
        if match:
            number = value_of(match[1], field)
            return lambda day: day.day == nearest_workday(number, day)
    numbers = numbers_of(item, field, dialect)
    return lambda day: day.day in numbers


def weekday_question(item, field, dialect):
    """Returns one item of the day-of-week field as a function date -> bool."""
    if dialect == "standard":
        text = item.upper()
        if text == "?":
            return lambda day: True
        match = re.fullmatch("([0-9]+|[A-Z]{3})L", text)
        if match:
            wanted = value_of(match[1], field) % 7
            return lambda day: cron_weekday(day) == wanted and day.day > month_length(day) - 7
        match = re.fullmatch("([0-9]+|[A-Z]{3})#([0-9]+)", text)
        if match:
            wanted = value_of(match[1], field) % 7
            nth = int(match[2])
            if not 1 <= nth <= 5:
                raise Bad("the n of d#n is 1 to 5")
            return lambda day: cron_weekday(day) == wanted and (day.day - 1) // 7 + 1 == nth
    numbers = [number % 7 for number in numbers_of(item, field, dialect)]
    return lambda day: cron_weekday(day) in numbers


# Expressions

class Cron:
    """A parsed expression with its options."""

    def __init__(self, text, options):
        self.options = options
        words = split_words(text, options["dialect"])
        self.seconds, self.minutes, self.hours, self.days, self.months, self.weekdays = (
            parse_field(word, start, field, options["dialect"])
            for (word, start), field in zip(words, fields_of(options["dialect"]))
        )
        texts = [word for word, _ in words]
        self.day_restricted = texts[3][0] not in "*?"
        self.weekday_restricted = texts[5][0] not in "*?"
        self.times = wall_times(self.hours, self.minutes, self.seconds)
        self.repeating = texts[1][0] == "*" or texts[2][0] == "*"

    def matches_date(self, day):
        if day.month not in self.months:
            return False
        by_day = any(question(day) for question in self.days)
        by_weekday = any(question(day) for question in self.weekdays)
        either = (self.options["dialect"] == "standard" and self.options["day_match"] == "or"
                  and self.day_restricted and self.weekday_restricted)
        return (by_day or by_weekday) if either else (by_day and by_weekday)


def wall_times(hours, minutes, seconds):
    """Returns every matching time of a matching day since midnight, in order."""
    return [timedelta(hours=hour, minutes=minute, seconds=second)
            for hour, minute, second in itertools.product(*map(sorted, (hours, minutes, seconds)))]


def split_words(text, dialect):
    """Returns the six (field text, offset) of an expression, with macros expanded and seconds
    added."""
    octets = text.encode("utf-8")
    if len(octets) > MAX_BYTES:
        raise CronError("too long", 0, len(octets))
    for place, octet in enumerate(octets):
        if octet > 127:
            raise CronError("not ASCII", place, place)
    bare = text.strip(" \t")
    if dialect == "standard" and bare.upper() in MACROS:
        text = MACROS[bare.upper()]
    words = [(found[0], found.start()) for found in re.finditer("[^ \t]+", text)]
    if len(words) == 5:
        return [("0", 0)] + words
    if len(words) == 6 and dialect == "standard":
        return words
    raise CronError(f"{len(words)} fields", 0, len(text))


def parse_field(word, start, field, dialect):
    """Returns a field's items: a set of numbers, or a list of predicates for the two day fields."""
    found = []
    for item in word.split(","):
        try:
            if field.name == "day":
                found.append(day_question(item, field, dialect))
            elif field.name == "weekday":
                found.append(weekday_question(item, field, dialect))
            else:
                found.extend(numbers_of(item, field, dialect))
        except Bad as bad:
            raise CronError(str(bad), start, start + len(item)) from None
        start += len(item) + 1
    return found if field.name in ("day", "weekday") else set(found)


# Zones: only UTC -> local is needed; all times are naive, in UTC or local as their name says

def offset_at(zone, utc):
    """Returns local time minus UTC at an instant."""
    local = utc.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(zone))
    return local.replace(tzinfo=None) - utc


@functools.lru_cache(maxsize=None)
def changes_on(zone, day):
    """Returns the instants after the start of a UTC day, up to its end, at which the offset
    changes."""
    found = []
    hour = timedelta(hours=1)
    before = datetime(day.year, day.month, day.day)
    for _ in range(24):
        after = before + hour
        if offset_at(zone, before) != offset_at(zone, after):
            found.append(find_change(zone, before, after))
        before = after
    return found


def find_change(zone, before, after):
    """Returns the first second in (before, after] that has the offset of `after`."""
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=int((after - before).total_seconds()) // 2)
        if offset_at(zone, middle) == offset_at(zone, after):
            after = middle
        else:
            before = middle
    return after


def spans_around(zone, day):
    """Returns (start, end, offset), in UTC, of the constant offsets that can touch a local date."""
    start = datetime(day.year, day.month, day.day) - timedelta(days=2)
    end = start + timedelta(days=5)
    edges = [start]
    for number in range(5):
        edges += changes_on(zone, start.date() + timedelta(days=number))
    edges.append(end)
    return [(a, b, offset_at(zone, a)) for a, b in zip(edges, edges[1:]) if a < b]


def gap_end(local, spans):
    """Returns the first instant after the gap that skips a local time."""
    for (_, change, old), (_, _, new) in zip(spans, spans[1:]):
        if change + old <= local < change + new:
            return change
    raise AssertionError(f"{local} exists nowhere")


# The search

def fires_on(cron, zone, day):
    """Returns every UTC instant at which a matching local date fires, as a set."""
    spans = spans_around(zone, day)
    midnight = datetime(day.year, day.month, day.day)
    fires = set()
    for time in cron.times:
        local = midnight + time
        passes = [local - off for start, end, off in spans if start <= local - off < end]
        if cron.repeating or len(passes) == 1 or cron.options["fold"] == "both" and passes:
            fires.update(passes)
        elif passes:
            fires.add(passes[0] if cron.options["fold"] == "first" else passes[-1])
        elif cron.options["gap"] == "run_after":
            fires.add(gap_end(local, spans))
    return fires


def all_fires(cron, zone, start):
    """Yields the fires strictly after `start`, in order, up to the horizon."""
    day = (start - MAX_OFFSET).date()
    last_day = (start + HORIZON).date()
    pending = set()
    while day <= last_day:
        if pending:
            # No later date has a fire before this instant.
            settled = datetime(day.year, day.month, day.day) - MAX_OFFSET
            ready = [fire for fire in pending if fire < settled]
            pending.difference_update(ready)
            yield from sorted(ready)
        elif day.month not in cron.months:
            day = date(day.year, day.month, month_length(day))  # skip to the next month
        if cron.matches_date(day):
            pending.update(fire for fire in fires_on(cron, zone, day) if fire > start)
        day += timedelta(days=1)
    yield from sorted(pending)


def next_fires(cron, zone, start, count):
    """Returns up to `count` fires. The library dialect gives up 370 days after the previous
    fire."""
    found = []
    before = start
    for fire in itertools.islice(all_fires(cron, zone, start), count):
        if cron.options["dialect"] == "library" and fire - before > LIBRARY_HORIZON:
            break
        found.append(fire)
        before = fire
    return found


# Case files and the command line

def parse_instant(text):
    """Parses RFC 3339 in UTC, with a Z, as a naive time."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", text):
        raise ValueError(f"'{text}' is no UTC instant")
    return datetime.fromisoformat(text).replace(tzinfo=None)


def show(fires):
    return " ".join(fire.isoformat() + "Z" for fire in fires) or "never"


def parse_options(text):
    """Parses `key=value ...`; other options have their defaults."""
    options = {key: values[0] for key, values in CHOICES.items()}
    for pair in text.split():
        key, _, value = pair.partition("=")
        if value not in CHOICES.get(key, ()):
            raise ValueError(f"unknown option '{pair}'")
        options[key] = value
    return options


def check_next(columns):
    """Checks a case `expression | zone | options | from | fires`. Returns None or the problem."""
    expression, zone, options, start, expected = columns
    cron = Cron(expression, parse_options(options))
    wanted = [] if expected == "never" else [parse_instant(word) for word in expected.split()]
    found = next_fires(cron, zone, parse_instant(start), len(wanted) or 1)
    return None if found == wanted else f"expected {show(wanted)}, found {show(found)}"


def check_invalid(columns):
    """Checks a case `expression | options | place`. Returns None or the problem."""
    expression, options, place = columns
    expression = "" if expression == "<empty>" else expression
    try:
        Cron(expression, parse_options(options))
    except CronError as error:
        if place != "-" and not error.start <= int(place) <= error.end:
            return f"place {place} is outside {error.start}..{error.end} ({error})"
        return None
    return "accepted"


def cases_of(path):
    """Yields (line number, columns) of the cases of a file."""
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.startswith("#"):
                yield number, [column.strip() for column in line.split("|")]


def check_file(path):
    """Checks one file and returns (passed, failed)."""
    invalid = os.path.basename(path) == "invalid.txt"
    check, width = (check_invalid, 3) if invalid else (check_next, 5)
    passed = failed = 0
    for number, columns in cases_of(path):
        try:
            fault = check(columns) if len(columns) == width else f"{len(columns)} columns"
        except (CronError, ValueError, LookupError, OSError) as error:
            fault = f"{type(error).__name__}: {error}"
        if fault:
            failed += 1
            print(f"{path}:{number}: {columns[0]}: {fault}")
        else:
            passed += 1
    return passed, failed


def run_check(arguments):
    results = [check_file(path) for path in arguments.files]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def run_next(arguments):
    options = {key: getattr(arguments, key) for key in CHOICES}
    try:
        cron = Cron(arguments.expression, options)
    except CronError as error:
        print(f"refused at {error.start}: {error}", file=sys.stderr)
        return 1
    fires = next_fires(cron, arguments.tz, arguments.start, arguments.count)
    print("\n".join(show(fires).split(" ")))
    return 0


def main():
    parser = argparse.ArgumentParser(description="A naive oracle for cron expressions.")
    commands = parser.add_subparsers(required=True)
    check = commands.add_parser("check", help="verify case files")
    check.add_argument("files", nargs="+")
    check.set_defaults(run=run_check)
    ask = commands.add_parser("next", help="print the next fires of an expression")
    ask.add_argument("--tz", default="UTC")
    ask.add_argument("--count", type=int, default=1)
    ask.add_argument("--from", dest="start", type=parse_instant, required=True)
    for key, values in CHOICES.items():
        ask.add_argument("--" + key.replace("_", "-"), choices=values, default=values[0])
    ask.add_argument("expression")
    ask.set_defaults(run=run_next)
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
