#!/usr/bin/env python3
"""Style as a test: rules that neither the compiler nor clang-format can hold.

Usage: tools/tidy.py [--root DIR] [FILE...]

Every rule is one small function which yields (line, message). Limits, places and exemptions are
in tools/tidy.toml, so a change of policy is a change of data.
Exit status: 0 clean, 1 findings, 2 wrong usage or configuration.
"""

import argparse
import bisect
import fnmatch
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

# Tidy's own files must name what they forbid.
OWN_FILES = "tools/tidy"
SOURCE_KINDS = ("cpp", "cmake", "python", "bash")
KIND_OF_SUFFIX = {
    ".cpp": "cpp", ".hpp": "cpp", ".cc": "cpp", ".h": "cpp", ".ipp": "cpp", ".cmake": "cmake",
    ".py": "python", ".sh": "bash", ".bash": "bash", ".md": "markdown",
}
SHEBANG = re.compile(rb"#!.*\b(?:(python)[\d.]*|(?:ba|da)?sh)\b")
# `rule name -> (function, kinds of file)`, filled by @rule.
RULES = {}


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str


def rule(name, *kinds):
    """Registers a rule for the given kinds of file; none given means all, binaries too."""
    def register(function):
        RULES[name] = (function, frozenset(kinds))
        return function
    return register


# Lexer ---------------------------------------------------------------------------------------

# Each alternative starts with a plain character, never with a group: only then can the regex
# engine skip ordinary code quickly. So prefixes (R, u8) are looked at backwards, and an
# apostrophe after a hex digit is a digit separator.
TOKEN = re.compile(
    r"//(?:\\\r?\n|[^\n])*"
    r"|/\*.*?(?:\*/|\Z)"
    r'|"(?:(?<=R")([^()\\\s]{0,16})\(.*?\)\1"|(?:\\.|[^"\\\n])*")'
    r"|'(?:(?<=u8')|(?<![0-9a-fA-F]'))(?:\\.|[^'\\\n])+'"
    r'|#[ \t]*include[ \t]*(?:"[^"\n]*"|<[^>\n]*>)', re.DOTALL)
NOT_NEWLINE = re.compile(r"[^\n]")
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def spaces(text):
    return NOT_NEWLINE.sub(" ", text) if "\n" in text else " " * len(text)


def lex(text):
    """Returns (code, strings, includes); code has the same offsets as text, literals blank."""
    strings, includes = [], []

    def blank(match):
        token = match[0]
        if token[0] in "\"'":
            # The quotes stay, so that a literal still counts as an operand.
            if token[0] == '"':
                edge = 1 if match[1] is None else len(match[1]) + 2
                strings.append((match.start(), token[edge:-edge]))
            return token[0] + spaces(token[1:-1]) + token[0]
        if token[0] == "#":
            path = token[token.index("include") + 7:].strip()
            includes.append((match.start(), path[0] == '"', path[1:-1]))
        return spaces(token)

    return TOKEN.sub(blank, text), strings, includes


class Source:
    """One file; what is derived from its text is computed once, on first use."""

    def __init__(self, path, data, is_data):
        self.path = path
        self.name = path.rpartition("/")[2]
        self.kind = self._kind(data, is_data)
        self.text = "" if self.kind == "binary" else data.decode("utf-8", "replace")
        self.bad_utf8 = "\ufffd" in self.text and not decodes(data)

    def _kind(self, data, is_data):
        suffix = os.path.splitext(self.name)[1]
        known = "cmake" if self.name == "CMakeLists.txt" else KIND_OF_SUFFIX.get(suffix)
        # A source with odd bytes is still a source: else one byte would switch off all rules.
        if b"\0" in data[:8192] or (not decodes(data) and (is_data or not known)):
            return "binary"
        shebang = SHEBANG.match(data[:80].partition(b"\n")[0])
        script = ("python" if shebang[1] else "bash") if shebang else "text"
        return "data" if is_data else known or script

    @cached_property
    def lines(self):
        # Not splitlines(): that also splits at form feeds and U+2028.
        return self.text.removesuffix("\n").split("\n") if self.text else []

    @cached_property
    def _starts(self):
        return [match.end() for match in re.finditer("\n", self.text)]

    def line_of(self, offset):
        return bisect.bisect_right(self._starts, offset) + 1

    @cached_property
    def _lexed(self):
        return lex(self.text)

    @property
    def code(self):
        return self._lexed[0]

    @property
    def strings(self):
        return self._lexed[1]

    @property
    def includes(self):
        """(offset, quoted, path) of each #include."""
        return self._lexed[2]

    @cached_property
    def words(self):
        return frozenset(IDENTIFIER.findall(self.code))

    @cached_property
    def plain_code(self):
        """Code without preprocessor lines, whose braces need not be balanced."""
        return DIRECTIVE.sub(lambda match: spaces(match[0]), self.code)

    @cached_property
    def cmake_text(self):
        return re.sub(r"#[^\n]*", "", self.text)

    @cached_property
    def cmake_words(self):
        text = re.sub(r"\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/", "", self.cmake_text)
        return frozenset(re.split(r'[\s()";<>:]+', text))


def decodes(data):
    try:
        data.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


def is_test(path):
    return path.endswith("_test.cpp") or path.startswith("tests/")


# Configuration and tree ----------------------------------------------------------------------

@dataclass
class Ban:
    use: str
    words: list = field(default_factory=list)
    pattern: str = ""
    include: str = ""
    where: list = ()
    home: list = ()
    suffix: str = ""

    def __post_init__(self):
        pattern = self.pattern or rf"\b(?:{'|'.join(self.words)})\b"
        self.code_regex = re.compile(pattern) if self.words else None
        self.include_regex = re.compile(self.include) if self.include else None
        self.where, self.home = tuple(self.where), tuple(self.home)

    def holds_in(self, path, default_where):
        return (path.startswith(self.where or default_where)
                and not (self.home and path.startswith(self.home))
                and path.endswith(self.suffix))


@dataclass
class Exempt:
    rule: str
    path: str
    reason: str
    match: str = ""
    line: int = 0
    used: bool = False

    def covers(self, finding):
        return (finding.rule == self.rule and fnmatch.fnmatchcase(finding.path, self.path)
                and self.match in finding.message)


class Config:
    def __init__(self, text, path="tools/tidy.toml"):
        raw = tomllib.loads(text)
        self.path = path
        self.limits = raw["limits"]
        self.scope = {name: tuple(places) for name, places in raw["scope"].items()}
        self.names = raw["names"]
        self.requirements = raw["requirements"]
        self.bans = [Ban(**entry) for entry in raw.get("ban", [])]
        roots = raw["hosts"]["machine_paths"]
        self.machine_words = [f"/{root}/" for root in roots]
        # After a name, a variable or a dot the path is relative; -I and -L are the exceptions.
        self.machine_path = re.compile(
            rf"(?:(?<![\w.~}})*])|(?<=-[IL]))/(?:{'|'.join(roots)})/[\w./-]*")
        self.exempts = [Exempt(**entry) for entry in raw.get("exempt", [])]
        self._check_exempts(text)

    def _check_exempts(self, text):
        # tomllib keeps no positions; the n-th header belongs to the n-th entry.
        headers = re.finditer(r"^[ \t]*\[\[\s*exempt\s*\]\]", text, re.MULTILINE)
        for exempt, header in zip(self.exempts, headers):
            exempt.line = text.count("\n", 0, header.start()) + 1
            if exempt.rule not in RULES:
                raise ValueError(f"{self.path}:{exempt.line}: no rule named '{exempt.rule}'")
            if not exempt.reason.strip():
                raise ValueError(f"{self.path}:{exempt.line}: exemption without a reason")


@dataclass
class Module:
    """What src/ksana/<name>/CMakeLists.txt says in its ksana_module() call."""
    line: int
    rank: int | None
    deps: list


MODULE_CALL = re.compile(r"\bksana_module\s*\(\s*([\w-]+)([^)]*)\)")


class Tree:
    def __init__(self, root, config):
        self.root = Path(root)
        self.config = config
        self._sources = {}
        self._modules = {}

    def exists(self, path):
        return (self.root / path).exists()

    def source(self, path):
        """The file, or None; also files which were not asked for, such as a CMakeLists.txt."""
        if path not in self._sources:
            full = self.root / path
            is_data = path.startswith(self.config.scope["data"])
            self._sources[path] = (Source(path, full.read_bytes(), is_data)
                                   if full.is_file() else None)
        return self._sources[path]

    def module(self, name):
        if name not in self._modules:
            self._modules[name] = self._read_module(name)
        return self._modules[name]

    def _read_module(self, name):
        listing = self.source(f"src/ksana/{name}/CMakeLists.txt")
        calls = MODULE_CALL.finditer(listing.cmake_text) if listing else ()
        for call in calls:
            if call[1] == name:
                lists, keyword = {}, ""
                for word in call[2].split():
                    if re.fullmatch(r"[A-Z][A-Z_]*", word):
                        keyword = word
                    else:
                        lists.setdefault(keyword, []).append(word)
                rank = lists.get("RANK", [""])[0]
                line = listing.cmake_text.count("\n", 0, call.start()) + 1
                return Module(line, int(rank) if rank.isdigit() else None, lists.get("DEPS", []))
        return None


# Rules ---------------------------------------------------------------------------------------

@rule("banned-call", "cpp")
def banned_call(src, tree):
    for ban in tree.config.bans:
        if not ban.holds_in(src.path, tree.config.scope["cpp"]):
            continue
        if ban.code_regex and not src.words.isdisjoint(ban.words):
            for match in ban.code_regex.finditer(src.code):
                yield src.line_of(match.start()), f"'{' '.join(match[0].split())}': use {ban.use}"
        if ban.include_regex:
            for offset, _, path in src.includes:
                if ban.include_regex.search(path):
                    yield src.line_of(offset), f"'#include {path}': use {ban.use}"


SQL = re.compile(r"\s*(SELECT\s|INSERT\s|UPDATE\s|DELETE\s+FROM\b|CREATE\s+TABLE\b)")


@rule("sql-outside-store", "cpp")
def sql_outside_store(src, tree):
    if src.path.startswith(tree.config.scope["sql"]) or is_test(src.path):
        return
    for offset, content in src.strings:
        if match := SQL.match(content):
            yield src.line_of(offset), f"'{match[1].strip()}' text belongs in src/ksana/store_*"


@rule("file-length", *SOURCE_KINDS)
def file_length(src, tree):
    suffix = os.path.splitext(src.name)[1]
    kind = "test" if src.name.endswith("_test.cpp") else src.kind
    limit = tree.config.limits.get("hpp" if suffix in (".hpp", ".h") else kind)
    if limit and len(src.lines) > limit:
        yield 1, f"{len(src.lines)} lines, limit {limit}: split it by responsibility"


STRUCTURE = re.compile(r"[(){};]")
BRACES = re.compile(r"[{}]")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.DOTALL)
OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+)")
PARENS = re.compile(r"\([^()]*\)")
ANGLES = re.compile(r"<[^<>]*>")
CLASS_HEAD = re.compile(r"\b(?:class|struct|union|enum)\b(.*)", re.DOTALL)
CLASS_MACRO = re.compile(r"\b(?:alignas|[A-Z][A-Z0-9_]+)\s*@")
ASSIGNED = re.compile(r"=[^@=]*$")
MEMBER_INIT = re.compile(r"@.*?(?<!:):(?!:)", re.DOTALL)
NAME = re.compile(r"\w*TEST\w*\s*\([^()]*\)|operator\s*(?:\(\)|[^\s\w(]+)|[\w:~]+(?=\s*\()")


def squeeze(text, pattern, to):
    """Replaces nested pairs from the inside out."""
    count = 1
    while count:
        text, count = pattern.subn(to, text)
    return text


def brace_role(header):
    """What a `{` after this text at namespace or class depth opens: scope, body or value."""
    flat = OPERATOR.sub("operator_", ATTRIBUTE.sub("", header)).replace("->", "  ")
    # A parameter list becomes one @; template arguments go, as they may hold either.
    flat = squeeze(squeeze(flat, PARENS, "@"), ANGLES, "")
    if re.search(r"\bnamespace\b", flat) or re.fullmatch(r'\s*extern\s*"\s*"\s*', flat):
        return "scope"
    if (head := CLASS_HEAD.search(flat)) and "@" not in CLASS_MACRO.sub("", head[1]):
        return "scope"
    if "@" not in flat or ASSIGNED.search(flat):
        return "value"
    # In `X() : a_{1}, b_(2) {` only the last brace, after ) or } or a pack, opens the body.
    if MEMBER_INIT.search(flat) and header.rstrip()[-1] not in ")}.":
        return "value"
    return "body"


def closing_brace(code, pos):
    depth = 1
    for match in BRACES.finditer(code, pos):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(code)


def functions(code):
    """Yields (header, offset of {, offset of }) for each function; lambdas stay inside theirs."""
    start = pos = parens = 0
    while match := STRUCTURE.search(code, pos):
        pos, token = match.end(), match[0]
        if token == "(":
            parens += 1
        elif token == ")":
            parens = max(0, parens - 1)
        elif token == "{":
            header = code[start:match.start()]
            role = "value" if parens else brace_role(header)
            if role == "scope":
                start = pos
                continue
            end = closing_brace(code, pos)
            pos = end + 1
            if role == "body":
                yield header, match.start(), end
                start = pos
        elif token == "}" or not parens:
            start, parens = pos, 0


@rule("function-length", "cpp")
def function_length(src, tree):
    limit = tree.config.limits["function"]
    if len(src.lines) <= limit:
        return
    for header, begin, end in functions(src.plain_code):
        first = src.line_of(begin)
        length = src.line_of(end) - first - 1
        if length > limit:
            name = NAME.search(header)
            yield first, f"'{name[0] if name else '?'}' has {length} lines, limit {limit}"


@rule("line-length", *SOURCE_KINDS)
def line_length(src, tree):
    limit = tree.config.limits["line"]
    for number, line in enumerate(src.lines, 1):
        if len(line) > limit and len(line.rstrip("\r")) > limit:
            yield number, f"{len(line)} characters, limit {limit}"


LEFTOVER_WORDS = ("TODO", "FIXME", "XXX", "HACK")
LEFTOVER = re.compile(rf"\b(?:{'|'.join(LEFTOVER_WORDS)})\b")


@rule("leftover", *SOURCE_KINDS, "text")
def leftover(src, tree):
    if src.path.startswith(OWN_FILES) or not any(word in src.text for word in LEFTOVER_WORDS):
        return
    for match in LEFTOVER.finditer(src.text):
        yield src.line_of(match.start()), f"'{match[0]}': do it now or write it in the plan"


@rule("layering", "cpp", "cmake")
def layering(src, tree):
    parts = src.path.split("/")
    name = parts[2] if parts[:2] == ["src", "ksana"] and len(parts) > 3 else None
    if src.kind == "cmake":
        yield from ranks(name, tree) if name and len(parts) == 4 else ()
    elif src.path.startswith(tree.config.scope["cpp"]):
        for offset, quoted, path in src.includes:
            message = include_spelling(src, tree, quoted, path)
            if not message and name:
                message = forbidden_module(tree, name, path)
            if message:
                yield src.line_of(offset), message


def ranks(name, tree):
    module = tree.module(name)
    if module is None:
        return
    if module.rank is None:
        yield module.line, f"ksana_module({name}) has no RANK"
    for dep in module.deps:
        other = tree.module(dep)
        if other is None:
            yield module.line, f"dependency '{dep}' has no ksana_module({dep}) call"
        elif None not in (module.rank, other.rank) and other.rank >= module.rank:
            yield module.line, (f"'{name}' (rank {module.rank}) depends on '{dep}' "
                                f"(rank {other.rank}): a dependency has a lower rank")


def include_spelling(src, tree, quoted, path):
    sibling = PurePosixPath(src.path).parent / path
    if not quoted:
        return f"write \"{path}\" in quotes: it is ours" if path.startswith("ksana/") else None
    if {".", ".."} & set(path.split("/")) or ("/" not in path and tree.exists(sibling)):
        return f"write \"{path}\" as a path from the root, \"ksana/<module>/<file>\""
    return None


def forbidden_module(tree, name, path):
    parts = path.split("/")
    if parts[0] != "ksana" or len(parts) < 3 or parts[1] == name:
        return None
    # A public header below include/ belongs to no module.
    if not tree.exists(f"src/ksana/{parts[1]}") and tree.exists(f"include/{path}"):
        return None
    module = tree.module(name)
    if module is None:
        return f"'{parts[1]}': src/ksana/{name}/CMakeLists.txt has no ksana_module({name}) call"
    return None if parts[1] in module.deps else f"'{parts[1]}' is not in the DEPS of '{name}'"


def in_build(src, tree):
    path = PurePosixPath(src.path)
    for folder in path.parents:
        listing = tree.source(str(folder / "CMakeLists.txt"))
        if listing is None:
            continue
        if str(path.relative_to(folder)) in listing.cmake_words:
            return True
        # The bare name counts too, unless it names a file next to that list.
        if path.name in listing.cmake_words and not tree.exists(folder / path.name):
            return True
    return False


def missing_in_build(src, tree, tests):
    if (src.name.endswith(".cpp") and src.name.endswith("_test.cpp") == tests
            and src.path.startswith(tree.config.scope["build"]) and not in_build(src, tree)):
        yield 1, "no CMakeLists.txt of this or a parent folder names the file"


@rule("test-in-build", "cpp")
def test_in_build(src, tree):
    return missing_in_build(src, tree, tests=True)


@rule("source-in-build", "cpp")
def source_in_build(src, tree):
    return missing_in_build(src, tree, tests=False)


PRAGMA_ONCE = re.compile(r"\s*#[ \t]*pragma[ \t]+once\b")


@rule("header", "cpp")
def header_rule(src, tree):
    once = PRAGMA_ONCE.match(src.code)
    # Includes are blank in the code, so one above the pragma would not be seen by the match.
    early = once and src.includes and src.includes[0][0] < once.end()
    if src.name.endswith(".hpp") and (not once or early):
        yield 1, "the first line of code must be '#pragma once'"
    own = src.path.removesuffix(".cpp") + ".hpp"
    if src.name.endswith(".cpp") and tree.exists(own):
        offset, _, first = src.includes[0] if src.includes else (0, True, "")
        # First, so that the header is seen to compile on its own.
        if not first or not f"/{own}".endswith(f"/{first}"):
            yield src.line_of(offset), f"the first include must be its own header, {own}"


CO_TOKEN = re.compile(r"[(){}\[\];]|\bco_await\b")
CO_WORD = re.compile(r"\bco_(?:await|return|yield)\b")
CO_WORDS = ("co_await", "co_return", "co_yield")
BINDING = re.compile(r"\bauto\s*&{0,2}$")
EXPRESSION_WORD = re.compile(r"\b(?:return|throw|co_return|co_await|co_yield|case)$")
BLOCK_HEAD = re.compile(
    r"\b(?:else|do|try|const|noexcept|override|final|mutable)$"
    r"|\b(?:namespace|class|struct|union|enum)\b"
    r"|\)[\w\s]*->[^;{}()=]*$")


class Statement:
    def __init__(self, start):
        self.start = start
        self.await_at = None
        self.temporary = None


class Frame:
    """An open bracket. Groups share the statement around them, blocks hold their own ones."""

    def __init__(self, statement, block=False, introducer=False, in_expression=False):
        self.statement = statement
        self.block = block
        self.introducer = introducer
        self.in_expression = in_expression
        self.lambda_pending = False


def opens_lambda(code, at):
    """Whether the [ at this offset starts a lambda: not a subscript, attribute or binding."""
    before = code[max(0, at - 40):at].rstrip()
    if code[at + 1:at + 2] == "[" or before.endswith("[") or BINDING.search(before):
        return False
    operand = before and (before[-1] in ")]\"" or before[-1].isalnum() or before[-1] == "_")
    return not operand or bool(EXPRESSION_WORD.search(before))


def opens_value(head):
    """Whether a { after this start of a statement is an initialiser, not a block."""
    head = head.rstrip()
    if not head or BLOCK_HEAD.search(head):
        return False
    return head[-1] in "=,>]" or head[-1].isalnum() or head[-1] == "_"


class AwaitScan:
    """Finds statements that hold a co_await together with a braced value or a lambda."""

    def __init__(self, code):
        self.code = code
        self.stack = [Frame(Statement(0), block=True)]
        self.found = []

    def run(self):
        for match in CO_TOKEN.finditer(self.code):
            self._step(match[0], match.start())
        self._finish(self.stack[-1], len(self.code))
        return self.found

    def _step(self, token, at):
        top = self.stack[-1]
        if token == "co_await":
            top.statement.await_at = top.statement.await_at or at
        elif token == ";":
            # A ; in a group is that of for (;;) or if (init; condition).
            if top.block:
                self._finish(top, at + 1)
        elif token == "{":
            self._open_brace(top, at)
        elif token in "([":
            introducer = token == "[" and opens_lambda(self.code, at)
            self.stack.append(Frame(top.statement, introducer=introducer))
        else:
            self._close(at)

    def _open_brace(self, top, at):
        if top.lambda_pending:
            top.lambda_pending = False
            top.statement.temporary = "a lambda"
            self.stack.append(Frame(Statement(at + 1), block=True, in_expression=True))
        elif not top.block or opens_value(self.code[top.statement.start:at]):
            top.statement.temporary = top.statement.temporary or "a braced value"
            self.stack.append(Frame(top.statement))
        else:
            # The head of a block (if, for, function) is a statement of its own.
            self._finish(top, at + 1)
            self.stack.append(Frame(Statement(at + 1), block=True))

    def _close(self, at):
        if len(self.stack) == 1:
            return
        gone = self.stack.pop()
        top = self.stack[-1]
        top.lambda_pending = top.lambda_pending or gone.introducer
        if gone.block:
            self._finish(gone, at)
            if not gone.in_expression:
                top.statement = Statement(at + 1)

    def _finish(self, frame, end):
        done = frame.statement
        if done.await_at is not None and done.temporary:
            self.found.append((done.await_at, done.temporary))
        frame.statement = Statement(end)
        frame.lambda_pending = False


@rule("coroutine", "cpp")
def coroutine(src, tree):
    if not any(word in src.words for word in CO_WORDS):
        return
    if not (src.path.startswith(tree.config.scope["coroutine"]) or is_test(src.path)):
        for match in CO_WORD.finditer(src.code):
            yield src.line_of(match.start()), f"'{match[0]}' outside the places for coroutines"
    # g++ 12 miscompiles a co_await next to a temporary aggregate or a capturing lambda.
    for offset, temporary in AwaitScan(src.plain_code).run():
        yield src.line_of(offset), f"co_await with {temporary} in one statement: name it before"


SNAKE_CASE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")


@rule("name")
def file_name(src, tree):
    names, scope = tree.config.names, tree.config.scope
    *folders, name = src.path.split("/")
    stem = name.partition(".")[0]
    for part in (*folders, stem):
        if part in names["meaningless"]:
            yield 1, f"'{part}' says nothing: name it after what it does"
    # A dot file is named by its tool; data files often by their origin.
    checked = stem and name not in names["prescribed"] and not src.path.startswith(scope["data"])
    if checked and src.path.startswith(scope["snake_case"]) and not SNAKE_CASE.fullmatch(stem):
        yield 1, f"'{name}' is not snake_case"


TRAILING = re.compile(r"(?<![ \t])[ \t]+(?=\r?\n|\Z)")
TABBED_LINE = re.compile(r"^[^\t\n]*\t", re.MULTILINE)


@rule("whitespace", *SOURCE_KINDS, "markdown", "text")
def whitespace(src, tree):
    if src.bad_utf8:
        yield 1, "not valid UTF-8"
    if "\r\n" in src.text:
        yield src.line_of(src.text.index("\r\n")), "CRLF line end"
    for match in TRAILING.finditer(src.text):
        yield src.line_of(match.start()), "trailing blanks"
    if src.text and not src.text.endswith("\n"):
        yield len(src.lines), "no newline at the end of the file"
    if src.kind in ("cpp", "python", "cmake") and "\t" in src.text:
        for match in TABBED_LINE.finditer(src.text):
            yield src.line_of(match.start()), "tab"


@rule("secret-or-host")
def secret_or_host(src, tree):
    words = tree.config.machine_words
    if src.path.startswith(OWN_FILES) or not any(word in src.text for word in words):
        return
    for match in tree.config.machine_path.finditer(src.text):
        yield src.line_of(match.start()), f"'{match[0]}' is a path of one machine"


REQUIREMENT = re.compile(r"\b([KNTGD])-(\d\d)\b")


@rule("requirement-id")
def requirement_id(src, tree):
    if is_test(src.path):
        for match in REQUIREMENT.finditer(src.text):
            first, last = tree.config.requirements.get(match[1], (1, 0))
            if not first <= int(match[2]) <= last:
                yield src.line_of(match.start()), f"there is no requirement '{match[0]}'"


# Driver --------------------------------------------------------------------------------------

def list_files(root, walk_skip):
    """All files that are or could become part of the repository."""
    command = ["git", "-C", str(root), "ls-files", "-z", "-c", "-o", "--exclude-standard"]
    try:
        output = subprocess.run(command, capture_output=True, check=True).stdout
        paths = set(os.fsdecode(output).split("\0")) - {""}
    except (OSError, subprocess.CalledProcessError):
        paths = walk(root, walk_skip)
    # Git also lists what was deleted but not yet staged, and submodules as folders.
    return sorted(path for path in paths
                  if (root / path).is_file() and not (root / path).is_symlink())


def walk(root, skip):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders
                      if not any(fnmatch.fnmatchcase(name, pattern) for pattern in skip)]
        for name in files:
            yield Path(folder, name).relative_to(root).as_posix()


def check_source(src, tree):
    for name, (function, kinds) in RULES.items():
        if not kinds or src.kind in kinds:
            for line, message in function(src, tree):
                yield Finding(src.path, line, name, message)


def check(root, config, paths=None):
    """Returns (findings, number of files); without paths the whole tree is checked."""
    tree = Tree(root, config)
    whole = paths is None
    paths = list_files(tree.root, config.scope["walk_skip"]) if whole else paths
    findings = []
    for path in paths:
        src = tree.source(path)
        # None: an editor or a build took the file away since it was listed.
        for finding in check_source(src, tree) if src else ():
            covering = [exempt for exempt in config.exempts if exempt.covers(finding)]
            for exempt in covering:
                exempt.used = True
            if not covering:
                findings.append(finding)
    # A part of the tree says nothing about exemptions for the rest.
    for exempt in config.exempts if whole else ():
        if not exempt.used:
            findings.append(Finding(config.path, exempt.line, "stale-exemption",
                                    f"{exempt.rule} for '{exempt.path}' hides nothing: remove it"))
    return sorted(findings), len(paths)


def load_config(root):
    path = root / "tools" / "tidy.toml"
    if not path.is_file():
        path = Path(__file__).resolve().with_name("tidy.toml")
    return Config(path.read_text(encoding="utf-8"))


def relative_paths(files, root):
    paths = set()
    for name in files:
        full = Path(name).resolve()
        if not full.is_file() or not full.is_relative_to(root):
            raise ValueError(f"{name}: no such file below {root}")
        paths.add(full.relative_to(root).as_posix())
    return sorted(paths)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    try:
        if not root.is_dir():
            raise ValueError(f"{root}: no such folder")
        paths = relative_paths(options.files, root) if options.files else None
        config = load_config(root)
    # TypeError: a ban or exemption with an unknown or missing key.
    except (OSError, KeyError, TypeError, ValueError, re.error) as error:
        print(f"tidy: {error}", file=sys.stderr)
        return 2
    findings, count = check(root, config, paths)
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.message}")
    print(f"{len(findings)} findings in {count} files")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
