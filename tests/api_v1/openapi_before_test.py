#!/usr/bin/env python3
"""Checks that the generated description covers the earlier one that was written by hand: every
path, parameter, body, answer, schema and problem. Prints each difference with its place.

ACCEPTED lists the differences in which the earlier one was wrong, each with its reason. An entry
without a matching difference is an error as well.
"""
import copy
import json
import pathlib
import re

from kit.cases import arguments, case, run
from kit.checks import check, equal
from kit.contract import DESCRIPTION
from kit.places import Place

BEFORE = pathlib.Path(__file__).parent.parent / "data" / "openapi_before.json"
# Rules that must be the same where the old description had them.
SAME = ("format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
        "default")

ACCEPTED = {
    r"^(PUT|DELETE) /api/v1/(groups|limits|alerts)/.* 422: is missing$":
        "422 is about an Idempotency-Key, which only a POST has",
    r"^POST /api/v1/(preview|simulate) (.*Idempotency-(Key|Replayed)|409|422).*is missing$":
        "they change nothing, and their answers are no longer kept: a key is ignored",
    r"^LedgerPage/total: is missing$":
        "the list of the ledger takes no total, so no answer has one",
    r"^Explanation/(run|ledger|related): required is another":
        "the old one did not describe their members; these are in every answer",
    r"^(LimitUse|StoredLimit): required is another: \['cluster'\]":
        "a new member, which every answer has",
    r"^Explanation/expected: values .*'deleted'":
        "the words of the model: there is one more",
    r"^(LedgerEntry/fate|Explanation/verdict): values .*no_worker'":
        "a broadcast that found no live worker",
    r"^ClaimedRun: required is another: \['kind'\]$":
        "workers get runs of several kinds, and every answer says which",
    r"^tags: are others$":
        "there were no workers",
    r"^Schedule/kind: values .*'after'\]":
        "schedules that follow other jobs",
    r"^(Job: required is another: \['dependants', 'max_wait'\]|Fires: .*\['after_others'\])$":
        "new members, which every answer has",
    r"^Preview/warnings/items/kind: values .*'after_others'\]":
        "one more warning",
    r"^AgentReport/outcome: values .*'timed_out'\]":
        "a worker reports that an attempt exceeded its time limit",
    r"^(Rate|Breaker): null is allowed, or not any more$":
        "null is allowed where they are used, not in the schema itself",
    r"^Backfill/per_minute: format 'int32'":
        "the server keeps it in 32 bits",
    r"^Alert/(enabled|consecutive|recovery): default None":
        "an answer has every member; the defaults stand in AlertDefinition",
    r"^Type(Callbacks)?Patch/(code|need_manual|security|callbacks/security): null is allowed":
        "null in a merge patch takes any member away",
}


class Comparison:
    def __init__(self, before, now):
        self.before, self.now, self.findings = before, now, []
        self.compared = set()

    def need(self, condition, where, what):
        if not condition:
            self.findings.append(f"{where}: {what}")
        return condition

    @staticmethod
    def resolve(document, node):
        """Resolves references; members beside a reference override those behind it."""
        while "$ref" in node:
            found = document
            for step in node["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            node = {**found, **{name: rule for name, rule in node.items() if name != "$ref"}}
        return node

    def run(self):
        for path, item in self.before["paths"].items():
            for method, operation in item.items():
                if method == "parameters":
                    continue
                where = f"{method.upper()} {path}"
                now = self.now["paths"].get(path, {})
                if self.need(method in now, where, "is missing"):
                    self.operation(where, item, operation, now[method])
        schemas = self.now["components"]["schemas"]
        for name in self.before["components"]["schemas"]:
            if self.need(name in schemas, f"schema {name}", "is missing"):
                reference = {"$ref": f"#/components/schemas/{name}"}
                self.schema(name, reference, reference)
        for part in ("securitySchemes", "parameters", "headers", "responses"):
            for name in self.before["components"][part]:
                self.need(part == "parameters" or name in self.now["components"][part],
                          f"{part}/{name}", "is missing")
        for part in ("openapi", "info", "servers", "security"):
            self.need(self.before[part] == self.now[part], part, "is another")
        self.need({tag["name"] for tag in self.before["tags"]} ==
                  {tag["name"] for tag in self.now["tags"]}, "tags", "are others")
        return self.findings

    # ---- operations

    def operation(self, where, item, before, now):
        for part in ("operationId", "tags", "security"):
            self.need(before.get(part) == now.get(part), where, f"{part} is another")
        self.words(where, before, now, ("summary", "description"))
        given = {(one["name"], one["in"]): one for one in
                 (self.resolve(self.now, one) for one in now.get("parameters", ()))}
        for one in item.get("parameters", []) + before.get("parameters", []):
            one = self.resolve(self.before, one)
            spot = f"{where} parameter {one['in']} {one['name']}"
            if self.need((one["name"], one["in"]) in given, spot, "is missing"):
                other = given[one["name"], one["in"]]
                for part in ("required", "style", "explode"):
                    self.need(part not in one or one[part] == other.get(part), spot,
                              f"{part} is another")
                self.words(spot, one, other, ("description",))
                self.schema(spot, one["schema"], other["schema"])
        if self.need("requestBody" not in before or "requestBody" in now, where, "has no body"):
            self.body(where, before.get("requestBody"), now.get("requestBody"))
        for status, response in before["responses"].items():
            if self.need(status in now["responses"], f"{where} {status}", "is missing"):
                self.response(f"{where} {status}", self.resolve(self.before, response),
                              self.resolve(self.now, now["responses"][status]))

    def body(self, where, before, now):
        if before is None:
            return
        self.need(before["required"] == now["required"], where, "body: required is another")
        self.content(f"{where} body", before["content"], now["content"])
        for kind, media in before["content"].items():
            shown = "example" in media or "examples" in self.resolve(self.before, media["schema"])
            schema = self.resolve(self.now, now["content"].get(kind, {}).get("schema", {}))
            self.need(not shown or "examples" in schema, f"{where} body", "has no example")

    def content(self, where, before, now):
        for kind, media in before.items():
            if self.need(kind in now, where, f"{kind} is missing"):
                self.schema(where, media["schema"], now[kind]["schema"])

    def response(self, where, before, now):
        self.words(where, before, now, ("description",))
        for name, header in before.get("headers", {}).items():
            if self.need(name in now.get("headers", {}), where, f"header {name} is missing"):
                self.schema(f"{where} header {name}",
                            self.resolve(self.before, header)["schema"],
                            self.resolve(self.now, now["headers"][name])["schema"])
        self.content(where, before.get("content", {}), now.get("content", {}))

    def words(self, where, before, now, names):
        for name in names:
            self.need(not before.get(name) or now.get(name), where, f"{name} is gone")

    # ---- schemas

    def schema(self, where, before, now):
        # A schema that has its name in both is compared once, under its name.
        named = before.get("$ref", "")
        if named and named == now.get("$ref"):
            self.words(where, before, self.resolve(self.now, now), ("description",))
            if named in self.compared:
                return
            self.compared.add(named)
            where = named.split("/")[-1]
        before, null_before = self.plain(self.before, before)
        now, null_now = self.plain(self.now, now)
        self.need(null_before == null_now, where, "null is allowed, or not any more")
        if "type" in before:
            self.need(before["type"] == now.get("type"), where,
                      f"type {now.get('type')} instead of {before['type']}")
        if "enum" in before:
            self.need(set(before["enum"]) == set(now.get("enum", ())), where,
                      f"values {now.get('enum')} instead of {before['enum']}")
        for rule in SAME:
            self.need(rule not in before or before[rule] == now.get(rule), where,
                      f"{rule} {now.get(rule)!r} instead of {before.get(rule)!r}")
        self.words(where, before, now, ("description",))
        self.members(where, before, now)
        if "items" in before and self.need("items" in now, where, "has no items"):
            self.schema(f"{where}/items", before["items"], now["items"])
        if isinstance(before.get("additionalProperties"), dict):
            self.schema(f"{where}/*", before["additionalProperties"],
                        now.get("additionalProperties") or {})
        if before.get("additionalProperties") is False:
            self.need(now.get("additionalProperties") is False, where, "is open")
        for number, choice in enumerate(before.get("oneOf", ())):
            if self.need(len(now.get("oneOf", ())) > number, where, "has fewer choices"):
                self.schema(f"{where}/oneOf/{number}", choice, now["oneOf"][number])

    def members(self, where, before, now):
        for name, part in before.get("properties", {}).items():
            if self.need(name in now.get("properties", {}), f"{where}/{name}", "is missing"):
                self.schema(f"{where}/{name}", part, now["properties"][name])
        missing = set(before.get("required", ())) ^ set(now.get("required", ()))
        self.need(not missing, where, f"required is another: {sorted(missing)}")

    def plain(self, document, schema):
        """A schema without references, and whether it allows null."""
        schema = self.resolve(document, schema)
        if isinstance(schema.get("type"), list):
            others = [name for name in schema["type"] if name != "null"]
            return {**schema, "type": others[0] if len(others) == 1 else others}, True
        choices = schema.get("oneOf", [])
        if len(choices) == 2 and choices[1] == {"type": "null"}:
            beside = {name: rule for name, rule in schema.items() if name != "oneOf"}
            return {**self.resolve(document, choices[0]), **beside}, True
        return schema, False


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class BeforeTest(Place):
    def open(self):
        self.before, self.now = load(BEFORE), load(DESCRIPTION)

    def findings(self):
        found = Comparison(self.before, self.now).run()
        return [one for one in found if not any(re.search(place, one) for place in ACCEPTED)]

    def expect(self, part):
        findings = self.findings()
        check(any(part in one for one in findings), f"{part!r} is not in {findings[:5]}")

    @case
    def test_says_at_least_what_it_said(self):
        equal(self.findings(), [])

    @case
    def test_no_difference_is_accepted_in_vain(self):
        found = Comparison(self.before, self.now).run()
        for place in ACCEPTED:
            check(any(re.search(place, one) for one in found), place)

    @case
    def test_finds_what_is_taken_away(self):
        schemas = self.now["components"]["schemas"]
        kept = copy.deepcopy(self.now)
        del self.now["paths"]["/api/v1/jobs"]["get"]["parameters"][1]
        self.expect("GET /api/v1/jobs parameter query name: is missing")
        self.now["paths"] = kept["paths"]
        del schemas["Job"]["properties"]["overlap"]["description"]
        self.expect("Job/overlap: description is gone")
        del schemas["Job"]["properties"]["overlap"]["enum"]
        self.expect("Job/overlap: values None")
        del schemas["JobDefinition"]["properties"]["priority"]
        self.expect("JobDefinition/priority: is missing")
        del self.now["paths"]["/api/v1/jobs/{id}"]["put"]["responses"]["428"]
        self.expect("PUT /api/v1/jobs/{id} 428: is missing")
        schemas["Problem"]["required"].remove("code")
        self.expect("Problem: required is another: ['code']")


if __name__ == "__main__":
    run(arguments(""), lambda one: one.owner())
