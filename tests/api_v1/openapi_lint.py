#!/usr/bin/env python3
"""Checks the description: the structure that OpenAPI 3.1 requires, and that everything is named
once, described, used and in its place.

    openapi_lint.py [FILE]      lists the findings; 0 when there are none
"""
import json
import re
import sys

from kit.contract import DESCRIPTION, NOTES, Breach, Description

METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}
PLACES = {"query", "path", "header", "cookie"}
OPERATION = {"operationId", "tags", "summary", "description", "parameters", "requestBody",
             "responses", "security", "deprecated"}
TOP = {"openapi", "info", "servers", "security", "tags", "paths", "components"}
RULES = NOTES | {name.removeprefix("check_") for name in dir(Description)
                 if name.startswith("check_") and name not in
                 ("check_answer", "check_header", "check_problem")} | {"$ref"}


def walk(node, where=""):
    """(Place, object) of every object of the document."""
    if isinstance(node, dict):
        yield where, node
        for name, part in node.items():
            yield from walk(part, f"{where}/{name}")
    elif isinstance(node, list):
        for number, part in enumerate(node):
            yield from walk(part, f"{where}/{number}")


class Lint:
    def __init__(self, document):
        self.document = document
        self.findings = []

    def need(self, condition, where, what):
        if not condition:
            self.findings.append(f"{where}: {what}")
        return condition

    def run(self):
        document = self.document
        self.need(set(document) <= TOP, "", f"unknown members {sorted(set(document) - TOP)}")
        self.need(str(document.get("openapi", "")).startswith("3.1."), "/openapi", "is no 3.1")
        for name in ("title", "version", "license"):
            self.need(document.get("info", {}).get(name), "/info", f"has no {name}")
        self.need(document.get("servers"), "/servers", "is empty")
        if not self.references():
            return self.findings        # nothing below can be looked up
        self.security()
        self.tags()
        self.operations()
        self.schemas()
        self.unused()
        return self.findings

    # ---- what is named elsewhere

    def find(self, reference):
        found = self.document
        for step in reference.removeprefix("#/").split("/"):
            if not isinstance(found, dict) or step not in found:
                return None
            found = found[step]
        return found

    def resolve(self, node):
        while "$ref" in node:
            node = self.find(node["$ref"])
        return node

    def references(self):
        good = True
        for where, node in walk(self.document):
            if not isinstance(node.get("$ref"), str):
                continue
            reference = node["$ref"]
            good &= self.need(reference.startswith("#/") and self.find(reference) is not None,
                              where, f"{reference} leads nowhere")
        return good

    def unused(self):
        used = {node["$ref"] for _, node in walk(self.document)
                if isinstance(node.get("$ref"), str)}
        for kind, parts in self.document.get("components", {}).items():
            for name in parts if kind != "securitySchemes" else ():
                self.need(f"#/components/{kind}/{name}" in used, f"/components/{kind}/{name}",
                          "is not used")

    def security(self):
        schemes = self.document.get("components", {}).get("securitySchemes", {})
        self.need(schemes, "/components/securitySchemes", "there is none")
        self.need("security" in self.document, "/security", "is missing")
        places = [("", self.document)] + [(f"{method.upper()} {path}", operation)
                                          for path, method, operation in self.each_operation()]
        for where, node in places:
            for name in (name for wish in node.get("security", ()) for name in wish):
                self.need(name in schemes, where, f"there is no security scheme {name}")

    def tags(self):
        names = [tag["name"] for tag in self.document.get("tags", ())]
        self.need(len(names) == len(set(names)), "/tags", "a name comes twice")
        for tag in self.document.get("tags", ()):
            self.need(tag.get("description"), f"/tags/{tag['name']}", "is not described")
        used = {tag for _, _, operation in self.each_operation()
                for tag in operation.get("tags", ())}
        self.need(set(names) == used, "/tags", f"only here or only used: {set(names) ^ used}")

    # ---- operations

    def each_operation(self):
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if method != "parameters":
                    yield path, method, operation

    def operations(self):
        names, shapes = {}, {}
        for path in self.document["paths"]:
            shape = re.sub(r"\{\w+\}", "{}", path)
            self.need(shape not in shapes, f"/paths{path}", f"is the same as {shapes.get(shape)}")
            shapes[shape] = path
            self.need(path == "/" or not path.endswith("/"), f"/paths{path}", "ends with /")
        for path, method, operation in self.each_operation():
            where = f"{method.upper()} {path}"
            self.need(method in METHODS, where, "is no method")
            self.need(set(operation) <= OPERATION, where,
                      f"unknown members {sorted(set(operation) - OPERATION)}")
            name = operation.get("operationId", "")
            self.need(re.fullmatch(r"[a-z][A-Za-z0-9]*", name), where, f"operationId {name!r}")
            self.need(name not in names, where, f"has the operationId of {names.get(name)}")
            names[name] = where
            summary = operation.get("summary", "")
            self.need(summary and len(summary) <= 80 and not summary.endswith("."), where,
                      f"summary {summary!r}: one line without a full stop")
            self.need(len(operation.get("tags", ())) == 1, where, "must have one tag")
            self.parameters(path, operation, where)
            self.body(method, operation, where)
            self.responses(operation, where)

    def parameters(self, path, operation, where):
        item = self.document["paths"][path]
        given = [self.resolve(one)
                 for one in item.get("parameters", []) + operation.get("parameters", [])]
        keys = [(one.get("name"), one.get("in")) for one in given]
        self.need(len(keys) == len(set(keys)), where, "a parameter comes twice")
        in_path = {name for name, place in keys if place == "path"}
        self.need(in_path == set(re.findall(r"\{(\w+)\}", path)), where,
                  f"parameters of the path are {sorted(in_path)}")
        for one in given:
            spot = f"{where} parameter {one.get('name')}"
            self.need(one.get("in") in PLACES, spot, "has no place")
            self.need(one.get("description"), spot, "is not described")
            self.need(("schema" in one) != ("content" in one), spot, "needs a schema or content")
            self.need(one.get("in") != "path" or one.get("required") is True, spot,
                      "of a path must be required")

    def body(self, method, operation, where):
        if "requestBody" not in operation:
            return
        self.need(method not in ("get", "head", "delete"), where, "must not have a body")
        body = self.resolve(operation["requestBody"])
        self.content(body, f"{where} body", True)

    def responses(self, operation, where):
        responses = operation.get("responses", {})
        self.need("default" in responses, where, "does not describe its errors (default)")
        self.need(any(status.startswith("2") for status in responses), where, "has no success")
        for status, response in responses.items():
            spot = f"{where} {status}"
            self.need(re.fullmatch(r"[1-5]\d\d|default", status), spot, "is no status")
            response = self.resolve(response)
            self.need(response.get("description"), spot, "is not described")
            self.content(response, spot, False)
            self.need("content" in response or status in ("202", "204", "304"), spot,
                      "has no content")
            self.need("content" not in response or status not in ("204", "304"), spot,
                      "must not have content")
            for name, header in response.get("headers", {}).items():
                header = self.resolve(header)
                self.need(header.get("description"), f"{spot} {name}", "is not described")
                self.need("schema" in header, f"{spot} {name}", "has no schema")

    def content(self, holder, where, needed):
        if needed:
            self.need(holder.get("content"), where, "has no content")
        for kind, media in holder.get("content", {}).items():
            self.need("/" in kind, where, f"{kind} is no media type")
            self.need("schema" in media, f"{where} {kind}", "has no schema")

    # ---- schemas

    def each_schema(self):
        """Every schema with its place, also those inside others."""
        waiting = [(f"/components/schemas/{name}", schema) for name, schema in
                   self.document.get("components", {}).get("schemas", {}).items()]
        waiting += [(where + "/schema", node["schema"]) for where, node in walk(self.document)
                    if isinstance(node.get("schema"), dict)]
        while waiting:
            where, schema = waiting.pop()
            yield where, schema
            for name, part in schema.get("properties", {}).items():
                waiting.append((f"{where}/properties/{name}", part))
            for rule in ("items", "additionalProperties"):
                if isinstance(schema.get(rule), dict):
                    waiting.append((f"{where}/{rule}", schema[rule]))

    def schemas(self):
        judge = Description(self.document)
        for where, schema in self.each_schema():
            self.need(set(schema) <= RULES, where, f"unknown rules {sorted(set(schema) - RULES)}")
            properties = schema.get("properties", {})
            required = schema.get("required", [])
            self.need(len(required) == len(set(required)), where, "requires something twice")
            self.need(not properties or set(required) <= set(properties), where,
                      f"requires what it has not: {sorted(set(required) - set(properties))}")
            self.need(not properties or schema.get("type") in ("object", ["object", "null"]),
                      where, "has properties and is no object")
            self.need("array" not in schema.get("type", ()) or "items" in schema, where,
                      "is an array of what?")
            if "pattern" in schema:
                try:
                    re.compile(schema["pattern"])
                except re.error as error:
                    self.need(False, where, f"pattern: {error}")
            self.values(judge, schema, where)

    def values(self, judge, schema, where):
        """Examples and defaults are what the schema allows."""
        given = [("example", value) for value in schema.get("examples", ())]
        given += [(name, schema[name]) for name in ("example", "default") if name in schema]
        for name, value in given:
            try:
                judge.check(value, schema, name)
            except (Breach, TypeError) as breach:
                self.need(False, where, str(breach))


def lint(document):
    return Lint(document).run()


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else DESCRIPTION
    with open(path, encoding="utf-8") as file:
        findings = lint(json.load(file))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
