"""Compares answers with the server's OpenAPI description: status, content type, headers and
body. Supports the part of JSON Schema that the description uses, and raises an error for
anything else."""
import json
import os
import re
from datetime import datetime

# The test ApiV1.description writes the built server's description to this file (openapi_dump.py).
DESCRIPTION = os.environ.get("KSANA_OPENAPI", "openapi.json")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Members of a schema that do not affect validity.
NOTES = {"description", "examples", "default", "example"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


class Breach(Exception):
    """An answer that the description does not allow."""


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def has_format(text, name):
    if name == "uuid":
        return UUID.fullmatch(text) is not None
    if name != "date-time" or not TIME.fullmatch(text):
        return name != "date-time"
    # Python has no year 0; 2000 has the same calendar.
    text = re.sub("^0000", "2000", text).replace("Z", "+00:00")
    try:
        return datetime.fromisoformat(text) is not None
    except ValueError:
        return False


# A parsed OpenAPI description. The check methods raise Breach.
class Description:
    def __init__(self, document=None):
        if document is None:
            with open(DESCRIPTION, encoding="utf-8") as file:
                document = json.load(file)
        self.document = document
        self.operations = []        # (method, pattern, operation)
        for pattern, item in self.document["paths"].items():
            for method, operation in item.items():
                if method == "parameters":
                    continue
                joined = item.get("parameters", []) + operation.get("parameters", [])
                operation = {**operation, "parameters": [self.resolve(one) for one in joined]}
                self.operations.append((method.upper(), pattern, operation))

    def resolve(self, node):
        while "$ref" in node:
            found = self.document
            for step in node["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            node = found
        return node

    def find(self, method, path):
        """Returns the operation of a request. Literal paths win over paths with parameters."""
        found = []
        for known, pattern, operation in self.operations:
            expression = re.sub(r"\{\w+\}", "[^/]+", pattern)
            if known == method and re.fullmatch(expression, path.split("?")[0]):
                found.append((pattern.count("{"), operation))
        return min(found, key=lambda entry: entry[0])[1] if found else None

    # ---- values

    def check(self, value, schema, where="body"):
        """Checks a value against every rule of a schema. Raises Breach."""
        if "$ref" in schema:
            return self.check(value, self.resolve(schema), where)
        if value is None and "null" in schema.get("type", ()):
            return None     # the remaining rules apply to other values only
        for rule, argument in schema.items():
            if rule in NOTES:
                continue
            judge = getattr(self, "check_" + rule, None)
            if judge is None:
                raise ValueError(f"the checker does not know the rule {rule}")
            judge(value, argument, schema, where)
        return None

    def need(self, condition, where, what):
        if not condition:
            raise Breach(f"{where}: {what}")

    def check_type(self, value, argument, _, where):
        names = argument if isinstance(argument, list) else [argument]
        self.need(any(is_type(value, name) for name in names), where, f"{value!r} is no {names}")

    def check_enum(self, value, argument, _, where):
        self.need(value in argument, where, f"{value!r} is not one of {argument}")

    def check_required(self, value, argument, _, where):
        missing = [name for name in argument if name not in value]
        self.need(not missing, where, f"{missing} are missing in {value}")

    def check_properties(self, value, argument, _, where):
        for name, schema in argument.items():
            if isinstance(value, dict) and name in value:
                self.check(value[name], schema, f"{where}/{name}")

    def check_additionalProperties(self, value, argument, schema, where):  # noqa: N802
        for name in value if isinstance(value, dict) else ():
            if name in schema.get("properties", {}):
                continue
            self.need(argument is not False, where, f"{name} is not described")
            if isinstance(argument, dict):
                self.check(value[name], argument, f"{where}/{name}")

    def check_items(self, value, argument, _, where):
        for number, item in enumerate(value):
            self.check(item, argument, f"{where}/{number}")

    def check_maxItems(self, value, argument, _, where):  # noqa: N802
        self.need(len(value) <= argument, where, f"more than {argument} items")

    def check_minItems(self, value, argument, _, where):  # noqa: N802
        self.need(len(value) >= argument, where, f"fewer than {argument} items")

    def check_oneOf(self, value, argument, _, where):  # noqa: N802
        fitting = 0
        for schema in argument:
            try:
                self.check(value, schema, where)
                fitting += 1
            except (Breach, AttributeError, TypeError):     # another type: the rules do not apply
                pass
        self.need(fitting == 1, where, f"{value!r} fits {fitting} of {len(argument)} schemas")

    def check_pattern(self, value, argument, _, where):
        self.need(re.search(argument, value), where, f"{value!r} does not match {argument}")

    def check_format(self, value, argument, _, where):
        if isinstance(value, str):
            self.need(has_format(value, argument), where, f"{value!r} is no {argument}")

    def check_minimum(self, value, argument, _, where):
        self.need(value >= argument, where, f"{value} is less than {argument}")

    def check_maximum(self, value, argument, _, where):
        self.need(value <= argument, where, f"{value} is more than {argument}")

    def check_minLength(self, value, argument, _, where):  # noqa: N802
        self.need(len(value) >= argument, where, "too short")

    def check_maxLength(self, value, argument, _, where):  # noqa: N802
        self.need(len(value) <= argument, where, "too long")

    # ---- answers

    def check_answer(self, method, path, status, headers, body):
        """Checks one answer of the server. `body` is parsed if it is JSON, else a text."""
        where = f"{method} {path} -> {status}"
        self.need("X-Request-Id" in headers, where, "no X-Request-Id")
        operation = self.find("GET" if method == "HEAD" else method, path)
        if operation is None:       # unknown path or method: the router answers 404 or 405
            self.need(status in (404, 405), where, "not described")
            return self.check_problem(where, status, headers, body)
        answer = operation["responses"].get(str(status))
        if answer is None:
            self.need(status >= 400, where, "this status is not described")
            answer = operation["responses"]["default"]
        answer = self.resolve(answer)
        if status >= 400:
            return self.check_problem(where, status, headers, body)
        for name, header in answer.get("headers", {}).items():
            if name in headers:
                self.check_header(headers[name], self.resolve(header), f"{where} {name}")
        self.need("Ksana-Version" in headers, where, "no Ksana-Version")
        if "ETag" in answer.get("headers", {}):
            self.need("ETag" in headers, where, "no ETag")
        if "content" not in answer:
            return self.need(body == "", where, "a body that is not described")
        kind = headers.get("Content-Type")
        self.need(kind in answer["content"], where, f"content type {kind}")
        if method != "HEAD":
            self.check(body, answer["content"][kind]["schema"], where)
        return None

    def check_header(self, text, header, where):
        schema = self.resolve(header["schema"])
        self.check(int(text) if schema["type"] == "integer" else text, schema, where)

    def check_problem(self, where, status, headers, body):
        kind = headers.get("Content-Type")
        self.need(kind == "application/problem+json", where, f"content type {kind}")
        self.need("Ksana-Version" in headers, where, "no Ksana-Version")
        if body == "":              # answer to HEAD
            return
        self.check(body, {"$ref": "#/components/schemas/Problem"}, where)
        self.need(body["status"] == status, where, "another status inside")
        self.need(body["type"].endswith(":" + body["code"]), where, "type and code differ")
        self.need(body["request_id"] == headers["X-Request-Id"], where, "request ids differ")


class Client:
    """Sends requests to a server and compares every answer with the description."""
    fetched = None      # the description; shared by all servers of the program

    def __init__(self, server, description=None):
        self.server = server
        self.given = description

    @property
    def description(self):
        if self.given is None:
            if Client.fetched is None:
                document = self.server.request("GET", "/api/v1/openapi.json")[2]
                Client.fetched = Description(document)
            self.given = Client.fetched
        return self.given

    def send(self, method, path, body=None, **headers):
        """Returns status, headers and body. Header names are written with _ for -."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.server.request(method, path, body, named)
        self.description.check_answer(method, path, *answer)
        return answer

    def call(self, method, path, body=None, expect=200, **headers):
        status, _, content = self.send(method, path, body, **headers)
        if status != expect:
            raise Breach(f"{method} {path}: {status} instead of {expect}: {content}")
        return content
