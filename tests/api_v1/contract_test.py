#!/usr/bin/env python3
"""The checker of answers, kit/contract.py: it finds planted breaches, and accepts the examples of
the description.

usage: contract_test.py [CASE…]
"""
import contextlib
import copy

from kit.cases import arguments, case, run
from kit.checks import check
from kit.contract import Breach, Description

PROBLEM = {"type": "urn:ksana:problem:not_found", "title": "Not found", "status": 404,
           "detail": "x", "instance": "/api/v1/jobs/x", "code": "not_found", "request_id": "r"}
HEADERS = {"X-Request-Id": "r", "Ksana-Version": "1", "Content-Type": "application/json"}
PROBLEM_HEADERS = {**HEADERS, "Content-Type": "application/problem+json"}


def breaks(function, *words):
    try:
        function(*words)
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


@case
def examples_of_the_description_are_valid(description):
    count = 0
    for example, schema in examples(description, description.document):
        description.check(example, schema, f"example {count}")
        count += 1
    check(count > 30, f"{count} examples")


@case
def breaches_of_answers_are_found(description):
    answer = description.check_answer
    page = {"items": [], "next_cursor": None}
    answer("GET", "/api/v1/jobs", 200, HEADERS, page)
    answer("GET", "/api/v1/jobs/x", 404, PROBLEM_HEADERS, PROBLEM)
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
    for number, words in enumerate(wrong):
        check(breaks(answer, *words), f"breach {number} was not found")


@case
def breaches_of_members_are_found(description):
    entry = {"seq": 1, "job_id": "j", "fate": "missed", "count": 1, "first": "2026-01-01T00:00:00Z",
             "last": "2026-01-01T00:00:00.000001Z", "recorded_at": "2026-01-01T00:00:00Z"}
    schema = {"$ref": "#/components/schemas/LedgerEntry"}
    description.check(entry, schema)
    for name, value in (("fate", "x"), ("seq", -1), ("seq", True), ("first", "2026-01-01"),
                        ("last", 5), ("count", 1.5)):
        changed = copy.deepcopy(entry)
        changed[name] = value
        check(breaks(description.check, changed, schema), f"{name}: {value}")


@case
def breaches_of_alternatives_are_found(description):
    failure = {"exec_id": "x", "error": {"message": "m"}}
    schema = {"$ref": "#/components/schemas/AgentFailure"}
    for retry in ("default", "no", {"after": "30s"}):
        description.check({**failure, "retry": retry}, schema)
    for retry in ("maybe", {}, {"after": "30s", "more": 1}, 5):
        check(breaks(description.check, {**failure, "retry": retry}, schema), retry)


if __name__ == "__main__":
    run(arguments(""), lambda _: contextlib.nullcontext(Description()))
