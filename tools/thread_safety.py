#!/usr/bin/env python3
"""Checks the locks: clang's -Wthread-safety over the files that work with a Mutex.

Usage: tools/thread_safety.py [--root DIR] [--jobs N] --build DIR

It checks the headers that name a lock or an annotation of base/process/mutex.hpp, and the sources
that do so or include such a header: guarded members are private, so other files cannot access them.
A test is checked if it names a lock itself. All headers are compiled once, into a precompiled
header, which is most of the work. DIR is a configured build: its compile_commands.json has the
include paths and definitions, and the precompiled header is written there.
Exit status: 0 clean, 1 findings, 2 wrong usage or no clang++-19.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPILER = "clang++-19"
# Other warnings are left to g++ and clang-tidy. -beta: checks the order of two locks
# (KSANA_ACQUIRED_BEFORE).
WARNINGS = ["-std=c++20", "-Wno-everything", "-Wthread-safety", "-Wthread-safety-beta", "-Werror"]
PLACES = ("src", "apps")
INCLUDE = re.compile(r'^#include ("[^"]+"|<[^>]+>)', re.MULTILINE)
LOCKS = re.compile(r"\b(?:Mutex|SharedMutex|MutexLock|ReaderLock|WriterLock"
                   r"|KSANA_(?:PT_)?GUARDED_BY|KSANA_REQUIRES(?:_SHARED)?)\b")


class Tree:
    """The C++ files below a root; paths are relative to it."""

    def __init__(self, root):
        self.root = root
        self.texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
                      for place in PLACES for path in sorted((root / place).rglob("*.[ch]pp"))}
        self.locking = {path for path, text in self.texts.items() if LOCKS.search(text)}

    def included(self, path):
        """Returns the names in the #include directives, with their quotes or brackets."""
        return INCLUDE.findall(self.texts[path])

    def resolve(self, name):
        inner = name[1:-1]
        return next((path for path in (f"src/{inner}", inner) if path in self.texts), None)

    def is_checked(self, path):
        if not path.endswith(".cpp"):
            return False
        return path in self.locking or not path.endswith("_test.cpp") and any(
            self.resolve(name) in self.locking for name in self.included(path))

    def sources(self):
        return [path for path in self.texts if self.is_checked(path)]

    def headers(self, sources):
        """Returns the names of all headers that name a lock, and of all that the sources
        include."""
        own = {f'"{path.removeprefix("src/")}"' for path in self.locking if path.endswith(".hpp")}
        return sorted(own.union(name for path in sources for name in self.included(path)
                                if name[0] == "<" or self.resolve(name)))


def flags_of(build):
    """Returns the flags that the targets of the build use: -I, -isystem and -D, each once."""
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        for word, following in zip(words, words[1:] + [""]):
            if word == "-isystem":
                flags[word, following] = None
            elif word.startswith(("-I", "-D")):
                flags[(word,)] = None
    return [word for words in flags for word in words]


def compile_one(root, arguments):
    return subprocess.run([COMPILER, *WARNINGS, *arguments], cwd=root, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def check(tree, build, jobs):
    """Prints the findings. Returns the number of files with findings, and of files checked."""
    flags = flags_of(build)
    sources = tree.sources()
    header = build / "thread_safety.hpp"
    header.write_text("".join(f"#include {name}\n" for name in tree.headers(sources)),
                      encoding="utf-8")
    precompiled = header.with_suffix(".pch")
    # Without instantiation here, every source would instantiate the templates of all headers.
    made = compile_one(tree.root, [*flags, "-fpch-instantiate-templates", "-x", "c++-header",
                                   str(header), "-o", str(precompiled)])
    print(made.stdout, end="", flush=True)
    if made.returncode != 0:
        return 1, 1
    arguments = [*flags, "-fsyntax-only", "-include-pch", str(precompiled)]
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(lambda path: compile_one(tree.root, [*arguments, path]), sources):
            print(done.stdout, end="", flush=True)
            failed += done.returncode != 0
    precompiled.unlink()
    return failed, len(sources) + 1


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    if not shutil.which(COMPILER):
        print(f"thread_safety: {COMPILER} is not installed: ./dev setup", file=sys.stderr)
        return 2
    failed, count = check(Tree(options.root.resolve()), options.build.resolve(), options.jobs)
    print(f"thread safety: findings in {failed} of {count} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
