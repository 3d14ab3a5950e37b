#!/usr/bin/env python3
"""`cmake --install` into a folder: everything is in its place and works from there.

    install_cases.py CMAKE BUILD_FOLDER
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1], sys.argv[2]


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ksana_install_")
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)

    def install(self, prefix):
        done = subprocess.run([CMAKE, "--install", BUILD, "--prefix", prefix],
                              env={**os.environ, "DESTDIR": str(self.place)},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.place / prefix.strip("/")

    def test_everything_is_in_its_place(self):
        usr = self.install("/usr")
        said = subprocess.run([usr / "bin" / "ksana", "--version"], capture_output=True, text=True,
                              check=True)
        self.assertIn("ksana", said.stdout)
        pages = sorted(path.name for path in (usr / "share" / "man" / "man1").iterdir())
        self.assertIn("ksana.1", pages)
        self.assertIn("ksana-job.1", pages)
        share = usr / "share"
        for path, part in (("bash-completion/completions/ksana", "complete "),
                           ("zsh/site-functions/_ksana", "#compdef ksana"),
                           ("fish/vendor_completions.d/ksana.fish", "complete -c ksana")):
            self.assertIn(part, (share / path).read_text(encoding="utf-8"), path)
        unit = (usr / "lib" / "systemd" / "system" / "ksana.service").read_text(encoding="utf-8")
        self.assertIn("ExecStart=/usr/bin/ksana server\n", unit)
        for path in usr.rglob("*"):         # for everybody, whoever installed it
            wanted = 0o755 if path.is_dir() or path.parent.name == "bin" else 0o644
            self.assertEqual(path.stat().st_mode & wanted, wanted, path)

    def test_the_unit_starts_what_was_installed(self):
        place = self.install("/opt/ksana")
        unit = (place / "lib" / "systemd" / "system" / "ksana.service").read_text(encoding="utf-8")
        self.assertIn("ExecStart=/opt/ksana/bin/ksana server\n", unit)
        self.assertNotIn(str(self.place), unit)

    def test_again_over_what_is_there(self):
        self.install("/usr")
        self.install("/usr")


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main(argv=sys.argv[:1])
