"""The rules of tidy: each is a small function that yields (line, message)."""

import os
import re
from pathlib import PurePosixPath

from tidy_tree import OWN_FILES, SOURCE_KINDS, is_test, rule


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


@rule("folder-width", "cpp")
def folder_width(src, tree):
    """A folder holds one subject and stays small. Reported once, at the folder's first file."""
    if src.path.startswith(tree.config.scope["folder"]) and not is_test(src.path):
        folder = PurePosixPath(src.path).parent
        names = tree.names_in(folder)
        sources = [name for name in names if name.endswith((".cpp", ".hpp"))
                   and not name.endswith("_test.cpp")]
        limit = tree.config.limits["folder"]
        if len(sources) > limit and src.name == sources[0]:
            yield 1, (f"{folder}: {len(sources)} files, limit {limit}: make folders by subject")


@rule("module-readme", "cmake")
def module_readme(src, tree):
    """Every module has a short README.md: what lives there, what does not, where to begin
    reading."""
    parts = src.path.split("/")
    if parts[:2] not in (["src", "ksana"], ["apps", "ksana"]) or src.name != "CMakeLists.txt":
        return
    if len(parts) != (4 if parts[0] == "src" else 3):
        return
    readme = tree.source(f"{src.path.removesuffix('CMakeLists.txt')}README.md")
    limit = tree.config.limits["readme"]
    if readme is None:
        yield 1, "the module has no README.md"
    elif len(readme.lines) > limit:
        yield 1, f"README.md has {len(readme.lines)} lines, limit {limit}"


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
    """Returns what a `{` after this text opens at namespace or class depth: scope, body or
    value."""
    flat = OPERATOR.sub("operator_", ATTRIBUTE.sub("", header)).replace("->", "  ")
    # A parameter list becomes one @; template arguments are removed, as they may hold either.
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
    """Yields (header, offset of {, offset of }) for each function; lambdas belong to their
    function."""
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
        # ksana_module and a GLOB_RECURSE take every .cpp file below them.
        if listing.takes_all_sources or str(path.relative_to(folder)) in listing.cmake_words:
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
    # Includes are blank in the code, so the match would not see one above the pragma.
    early = once and src.includes and src.includes[0][0] < once.end()
    if src.name.endswith(".hpp") and (not once or early):
        yield 1, "the first line of code must be '#pragma once'"
    own = src.path.removesuffix(".cpp") + ".hpp"
    if src.name.endswith(".cpp") and tree.exists(own):
        offset, _, first = src.includes[0] if src.includes else (0, True, "")
        # First, which proves that the header compiles on its own.
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
    """An open bracket. Groups share the enclosing statement, blocks have their own."""

    def __init__(self, statement, block=False, introducer=False, in_expression=False):
        self.statement = statement
        self.block = block
        self.introducer = introducer
        self.in_expression = in_expression
        self.lambda_pending = False


def opens_lambda(code, at):
    """Returns whether the [ at this offset starts a lambda: not a subscript, attribute or
    binding."""
    before = code[max(0, at - 40):at].rstrip()
    if code[at + 1:at + 2] == "[" or before.endswith("[") or BINDING.search(before):
        return False
    operand = before and (before[-1] in ")]\"" or before[-1].isalnum() or before[-1] == "_")
    return not operand or bool(EXPRESSION_WORD.search(before))


def opens_value(head):
    """Returns whether a { after this start of a statement is an initialiser, not a block."""
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
            # A ; in a group belongs to for (;;) or if (init; condition).
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
            # The head of a block (if, for, function) is a separate statement.
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
    # A tool decides the name of a dot file; data files often keep the name of their origin.
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
