#!/usr/bin/env python3
"""The public headers: each compiles alone and all compile together without a warning, and they
show no type of another library.

usage: header_cases.py SOURCE PAGE [CASE…]      SOURCE: the root of the sources; PAGE: a program
"""
import contextlib
import pathlib
import re
import subprocess
import tempfile

from kit.cases import add_case, arguments, case, run
from kit.checks import check, equal

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
VARIANTS = [f"{compiler} {standard}" for compiler in ("g++", "clang++-19")
            for standard in ("c++20", "c++23")]
OTHER_LIBRARIES = r"\b(?:boost|fmt|toml|sqlite3\w*|nlohmann|curl|hiredis|SSL|PGconn|MYSQL)\b"


class Sources:
    def __init__(self, root, page):
        self.root, self.page = pathlib.Path(root), pathlib.Path(page)
        self.public = sorted(path.name for path in (self.root / "include" / "ksana").glob("*.hpp"))

    def compile(self, variant, text, *options):
        compiler, standard = variant.split()
        with tempfile.NamedTemporaryFile("w", suffix=".cpp", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([compiler, f"-std={standard}", *WARNINGS, "-fsyntax-only",
                                   f"-I{self.root}/include", f"-I{self.root}/src", *options,
                                   file.name], capture_output=True, text=True, check=False)
        equal((done.returncode, done.stdout + done.stderr), (0, ""), text)

    def reached(self):
        """Returns the paths of the public headers and of all headers of Ksana that they include."""
        found, waiting = {}, [f"ksana/{name}" for name in self.public]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            path = self.root / "include" / name
            found[name] = path if path.exists() else self.root / "src" / name
            waiting += re.findall(r'^#include "([^"]+)"', found[name].read_text(encoding="utf-8"),
                                  re.M)
        return found.values()


def together(variant):
    def compile_all(sources):
        sources.compile(variant, "".join(f"#include <ksana/{name}>\n" for name in sources.public))
    return compile_all


def alone(variant):
    def compile_each(sources):
        check(len(sources.public) > 5, "the public headers were not found")
        for name in sources.public:
            sources.compile(variant, f"#include <ksana/{name}>\n")
    return compile_each


def the_page_compiles(variant):
    def compile_it(sources):
        sources.compile(variant, sources.page.read_text(encoding="utf-8"))
    return compile_it


@case
def only_the_standard_library_is_included(sources):
    standard = pathlib.Path(subprocess.run(["g++", "-print-file-name=include"], check=True,
                                           capture_output=True, text=True).stdout.strip())
    version = standard.parent.name
    for path in sources.reached():
        for name in re.findall(r"^#include <([^>]+)>", path.read_text(encoding="utf-8"), re.M):
            check((pathlib.Path("/usr/include/c++") / version / name).is_file() and
                  "/" not in name, f"{path} includes <{name}>")


@case
def no_type_of_another_library_is_named(sources):
    for path in sources.reached():
        for line in path.read_text(encoding="utf-8").splitlines():
            code = line.partition("//")[0]
            check(not re.search(OTHER_LIBRARIES, code), f"{path}: {line}")


def main():
    # Whether a header compiles alone does not depend on the version of the language.
    for variant in (VARIANTS[0], VARIANTS[-1]):
        add_case(alone(variant), name="alone", variant=variant, first=True)
    for variant in VARIANTS:
        add_case(together(variant), name="together", variant=variant)
        add_case(the_page_compiles(variant), name="the_page_compiles", variant=variant)
    given = arguments("SOURCE PAGE")
    sources = Sources(given.source, given.page)
    run(given, lambda _: contextlib.nullcontext(sources), parallel=2)


if __name__ == "__main__":
    main()
