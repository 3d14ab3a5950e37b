#!/usr/bin/env python3
"""The checker itself: it finds planted breaches, and the examples of the description are valid."""
import copy
import sys

from contract import Breach, Description

PROBLEM = {"type": "urn:ksana:problem:not_found", "title": "Not found", "status": 404,
           "detail": "x", "instance": "/api/v1/jobs/x", "code": "not_found", "request_id": "r"}
HEADERS = {"X-Request-Id": "r", "Ksana-Version": "1", "Content-Type": "application/json"}
PROBLEM_HEADERS = {**HEADERS, "Content-Type": "application/problem+json"}


def breaks(function, *arguments):
    try:
        function(*arguments)
    except Breach:
        return True
    return False


def examples(description, node, schema=None):
    """Every example of the description with its schema."""
    if isinstance(node, dict):
        if "schema" in node and "example" in node:
            yield node["example"], node["schema"]
        if "examples" in node and "type" in node:
            for example in node["examples"]:
                yield example, node
        for value in node.values():
            yield from examples(description, value, schema)
    elif isinstance(node, list):
        for value in node:
            yield from examples(description, value, schema)


def main():
    description = Description()
    count = 0
    for example, schema in examples(description, description.document):
        description.check(example, schema, f"example {count}")
        count += 1
    assert count > 30, count

    check = description.check_answer
    page = {"items": [], "next_cursor": None}
    check("GET", "/api/v1/jobs", 200, HEADERS, page)
    check("GET", "/api/v1/jobs/x", 404, PROBLEM_HEADERS, PROBLEM)
    wrong = [
        ("GET", "/api/v1/jobs", 200, HEADERS, {"items": []}),
        ("GET", "/api/v1/jobs", 200, HEADERS, {**page, "more": 1}),
        ("GET", "/api/v1/jobs", 200, HEADERS, {**page, "items": [{}]}),
        ("GET", "/api/v1/jobs", 200, HEADERS, {**page, "next_cursor": 1}),
        ("GET", "/api/v1/jobs", 201, HEADERS, page),
        ("GET", "/api/v1/jobs", 200, {**HEADERS, "Content-Type": "text/plain"}, page),
        ("GET", "/api/v1/jobs", 200, {"Content-Type": "application/json"}, page),
        ("GET", "/api/v1/nothing", 200, HEADERS, page),
        ("GET", "/api/v1/jobs/x", 404, HEADERS, PROBLEM),
        ("GET", "/api/v1/jobs/x", 400, PROBLEM_HEADERS, PROBLEM),
        ("GET", "/api/v1/jobs/x", 404, PROBLEM_HEADERS, {**PROBLEM, "request_id": "other"}),
        ("GET", "/api/v1/jobs/x", 404, PROBLEM_HEADERS, {**PROBLEM, "errors": [{}]}),
    ]
    for number, arguments in enumerate(wrong):
        assert breaks(check, *arguments), f"breach {number} was not found"

    entry = {"seq": 1, "job_id": "j", "fate": "missed", "count": 1, "first": "2026-01-01T00:00:00Z",
             "last": "2026-01-01T00:00:00.000001Z", "recorded_at": "2026-01-01T00:00:00Z"}
    schema = {"$ref": "#/components/schemas/LedgerEntry"}
    description.check(entry, schema)
    for name, value in (("fate", "x"), ("seq", -1), ("seq", True), ("first", "2026-01-01"),
                        ("last", 5), ("count", 1.5)):
        changed = copy.deepcopy(entry)
        changed[name] = value
        assert breaks(description.check, changed, schema), (name, value)

    failure = {"exec_id": "x", "error": {"message": "m"}}
    schema = {"$ref": "#/components/schemas/AgentFailure"}
    for retry in ("default", "no", {"after": "30s"}):
        description.check({**failure, "retry": retry}, schema)
    for retry in ("maybe", {}, {"after": "30s", "more": 1}, 5):
        assert breaks(description.check, {**failure, "retry": retry}, schema), retry
    print(f"{count} examples, {len(wrong)} breaches")


if __name__ == "__main__":
    sys.exit(main())
