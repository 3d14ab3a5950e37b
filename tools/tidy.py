#!/usr/bin/env python3
"""Style as a test: rules that neither the compiler nor clang-format can hold.

Usage: tools/tidy.py [--root DIR] [FILE...]

tidy_rules.py has the rules, tidy_tree.py their input. Limits, places and exemptions are in
tidy.toml, so a change of policy needs no code.
Exit status: 0 clean, 1 findings, 2 wrong usage or configuration.
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path

import tidy_rules  # noqa: F401  (registers the rules)
from tidy_tree import Config, Finding, RULES, Tree, lex  # noqa: F401  (lex is for the tests)


def list_files(root, walk_skip):
    """Returns all files that are, or could become, part of the repository."""
    command = ["git", "-C", str(root), "ls-files", "-z", "-c", "-o", "--exclude-standard"]
    try:
        output = subprocess.run(command, capture_output=True, check=True).stdout
        paths = set(os.fsdecode(output).split("\0")) - {""}
    except (OSError, subprocess.CalledProcessError):
        paths = walk(root, walk_skip)
    # Git also lists files that were deleted but not staged, and submodules as folders.
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
        # None: the file has disappeared since it was listed.
        for finding in check_source(src, tree) if src else ():
            covering = [exempt for exempt in config.exempts if exempt.covers(finding)]
            for exempt in covering:
                exempt.used = True
            if not covering:
                findings.append(finding)
    # If only a part of the tree is checked, unused exemptions are not reported.
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
