#!/usr/bin/env python3
"""The served description has no finding, and the lint finds each fault that is planted in it."""
import copy
import json

from openapi_lint import lint

from kit.cases import arguments, case, run
from kit.checks import check, equal
from kit.contract import DESCRIPTION
from kit.places import Place

with open(DESCRIPTION, encoding="utf-8") as opened:
    DOCUMENT = json.load(opened)


class LintTest(Place):
    def open(self):
        self.document = copy.deepcopy(DOCUMENT)
        self.list = self.document["paths"]["/api/v1/jobs"]["get"]
        self.one = self.document["paths"]["/api/v1/jobs/{id}"]
        self.schemas = self.document["components"]["schemas"]

    def expect(self, part):
        findings = lint(self.document)
        check(any(part in finding for finding in findings), findings[:5])

    @case
    def test_the_description_is_clean(self):
        equal(lint(self.document), [])

    @case
    def test_members_and_version(self):
        self.document["openapi"] = "3.0.3"
        self.document["path"] = {}
        del self.document["info"]["license"]
        self.expect("is no 3.1")
        self.expect("unknown members ['path']")
        self.expect("/info: has no license")

    @case
    def test_references(self):
        self.list["parameters"][0] = {"$ref": "#/components/parameters/None"}
        self.expect("#/components/parameters/None leads nowhere")

    @case
    def test_what_is_not_used(self):
        self.schemas["Lonely"] = {"type": "string"}
        self.expect("/components/schemas/Lonely: is not used")

    @case
    def test_security(self):
        self.list["security"] = [{"password": []}]
        self.expect("there is no security scheme password")

    @case
    def test_tags(self):
        self.list["tags"] = ["job"]
        self.expect("only here or only used: {'job'}")
        self.list["tags"] = ["jobs", "runs"]
        self.expect("must have one tag")

    @case
    def test_names_of_operations(self):
        self.list["operationId"] = self.one["get"]["operationId"]
        self.expect("has the operationId of")
        self.list["operationId"] = "list jobs"
        self.expect("operationId 'list jobs'")
        self.list["summary"] = "Lists jobs."
        self.expect("without a full stop")

    @case
    def test_paths(self):
        self.document["paths"]["/api/v1/jobs/{name}"] = self.one
        self.expect("is the same as /api/v1/jobs/{id}")

    @case
    def test_parameters(self):
        self.list["parameters"] += [self.list["parameters"][1],
                                    {"name": "bare", "in": "query"},
                                    {"name": "id", "in": "path", "description": "d", "schema": {}}]
        for part in ("a parameter comes twice", "bare: is not described", "needs a schema",
                     "parameters of the path are ['id']", "of a path must be required"):
            self.expect(part)

    @case
    def test_bodies_and_answers(self):
        self.list["requestBody"] = {"content": {"json": {}}}
        self.list["responses"]["2xx"] = {"content": {"application/json": {}}}
        self.list["responses"]["204"] = {"description": "d", "content": {}}
        del self.list["responses"]["default"]
        for part in ("must not have a body", "json is no media type", "2xx: is no status",
                     "2xx: is not described", "application/json: has no schema",
                     "must not have content", "does not describe its errors"):
            self.expect(part)

    @case
    def test_schemas(self):
        self.schemas["Problem"]["properties"].update({
            "a": {"type": "array"}, "b": {"typ": "string"}, "c": {"properties": {"d": {}}},
            "e": {"type": "string", "pattern": "("},
            "f": {"type": "integer", "examples": ["x"]},
            "g": {"type": "string", "enum": ["y"], "default": "z"}})
        self.schemas["Problem"]["required"].append("nothing")
        for part in ("is an array of what?", "unknown rules ['typ']", "is no object",
                     "pattern: ", "'x' is no ['integer']", "'z' is not one of ['y']",
                     "requires what it has not: ['nothing']"):
            self.expect(part)


if __name__ == "__main__":
    run(arguments(""), lambda one: one.owner())
