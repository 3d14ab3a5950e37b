#!/usr/bin/env python3
"""Tests of tools/thread_safety.py: faults in a small tree must be found."""

import contextlib
import io
import json
import shutil
import tempfile
import unittest
from pathlib import Path

import thread_safety

ROOT = Path(__file__).resolve().parent.parent
WRAPPERS = "src/ksana/base/process"
HEADER = """#pragma once
#include "ksana/base/process/mutex.hpp"
class Box {
  public:
    int value();
    int twice() { INLINE return 2 * value_; }
  private:
    ksana::Mutex mutex_;
    int value_ KSANA_GUARDED_BY(mutex_) = 0;
};
"""
LOCK = "const ksana::MutexLock lock(mutex_);"
SOURCE = '#include "ksana/box/box.hpp"\nint Box::value() { BODY return value_; }\n'


class ThreadSafetyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(ROOT / WRAPPERS, self.root / WRAPPERS,
                        ignore=lambda _, names: [name for name in names if name != "mutex.hpp"])
        self.build = self.root / "build"
        self.build.mkdir()
        command = f"g++ -I{self.root}/src -DBOX -c x.cpp"
        (self.build / "compile_commands.json").write_text(json.dumps([{"command": command}]))
        self.write("src/ksana/box/box.hpp", HEADER.replace("INLINE", LOCK))
        self.write("src/ksana/box/box.cpp", SOURCE.replace("BODY", LOCK))

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def run_check(self):
        """Returns the exit status and the output."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = thread_safety.main(["--root", str(self.root), "--build", str(self.build)])
        return status, output.getvalue()

    def assert_refused(self, place):
        status, output = self.run_check()
        self.assertEqual(status, 1, output)
        self.assertRegex(output, place + r":\d+:\d+: error: .* requires holding mutex 'mutex_'")

    def test_a_tree_without_faults_passes(self):
        status, output = self.run_check()
        self.assertEqual(status, 0, output)
        self.assertIn("findings in 0 of 2 files", output)

    # The source names no lock itself; including the header is enough.
    def test_a_fault_in_a_source_is_found(self):
        self.write("src/ksana/box/box.cpp", SOURCE.replace("BODY", ""))
        self.assert_refused("src/ksana/box/box.cpp")

    def test_a_fault_in_a_header_is_found(self):
        self.write("src/ksana/box/box.hpp", HEADER.replace("INLINE", ""))
        self.assert_refused("src/ksana/box/box.hpp")

    def test_what_does_not_compile_is_a_finding(self):
        self.write("src/ksana/box/box.cpp", SOURCE.replace("BODY", "unknown;"))
        self.assertEqual(self.run_check()[0], 1)

    def test_tests_without_locks_and_other_sources_are_left_out(self):
        self.write("src/ksana/box/box_test.cpp", SOURCE)
        self.write("src/ksana/box/other.cpp", "broken\n")
        self.assertEqual(thread_safety.Tree(self.root).sources(), ["src/ksana/box/box.cpp"])


if __name__ == "__main__":
    unittest.main()
