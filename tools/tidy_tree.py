"""The input of tidy's rules: files with comments and literals separated, the policy of
tidy.toml, the modules of the tree; and the registry of the rules."""

import bisect
import fnmatch
import os
import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

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
    """Registers a rule for the given kinds of file; without kinds, for all files, including
    binaries."""
    def register(function):
        RULES[name] = (function, frozenset(kinds))
        return function
    return register


# Lexer ---------------------------------------------------------------------------------------

# Each alternative starts with a plain character, never with a group: only then can the regex engine
# skip ordinary code quickly. So prefixes (R, u8) are checked by lookbehind, and an apostrophe after
# a hex digit is a digit separator.
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
    """Returns (code, strings, includes); code has the same offsets as text, with literals
    blanked."""
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
    """One file. Derived values are computed once, on first use."""

    def __init__(self, path, data, is_data):
        self.path = path
        self.name = path.rpartition("/")[2]
        self.kind = self._kind(data, is_data)
        self.text = "" if self.kind == "binary" else data.decode("utf-8", "replace")
        self.bad_utf8 = "\ufffd" in self.text and not decodes(data)

    def _kind(self, data, is_data):
        suffix = os.path.splitext(self.name)[1]
        known = "cmake" if self.name == "CMakeLists.txt" else KIND_OF_SUFFIX.get(suffix)
        # A source with invalid bytes is still a source: otherwise one byte would disable all rules.
        if b"\0" in data[:8192] or (not decodes(data) and (is_data or not known)):
            return "binary"
        shebang = SHEBANG.match(data[:80].partition(b"\n")[0])
        script = ("python" if shebang[1] else "bash") if shebang else "text"
        return "data" if is_data else known or script

    @cached_property
    def lines(self):
        # Not splitlines(), which also splits at form feeds and U+2028.
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
        """Returns (offset, quoted, path) of each #include."""
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
    def takes_all_sources(self):
        return re.search(r"^\s*ksana_module\(|GLOB_RECURSE[^)]*\*\.cpp\b", self.cmake_text,
                         re.MULTILINE) is not None

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
    """The ksana_module() call of src/ksana/<name>/CMakeLists.txt."""
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
        self._names = {}

    def exists(self, path):
        return (self.root / path).exists()

    def names_in(self, folder):
        """Returns the names of the files in a folder, in order."""
        if folder not in self._names:
            self._names[folder] = sorted(entry.name for entry in (self.root / folder).iterdir()
                                         if entry.is_file())
        return self._names[folder]

    def source(self, path):
        """Returns the file, or None; also files outside the checked ones, such as a
        CMakeLists.txt."""
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
