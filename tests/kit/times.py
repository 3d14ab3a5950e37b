"""Times as the API writes them: RFC 3339 in UTC with microseconds."""
from datetime import datetime, timedelta, timezone


def utc_now():
    return datetime.now(timezone.utc)


def text_of(instant):
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def time_of(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def after(seconds):
    """Returns the text of the time `seconds` from now."""
    return text_of(utc_now() + timedelta(seconds=seconds))
