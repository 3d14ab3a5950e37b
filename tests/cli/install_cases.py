#!/usr/bin/env python3
"""`cmake --install` into a folder: all files are in place and work from there.

usage: install_cases.py CMAKE BUILD [CASE…]      BUILD: the build folder
"""
import os
import subprocess

from kit.cases import arguments, case, run
from kit.checks import check, contains, equal, lacks
from kit.places import Place


class InstallTest(Place):
    def open(self):
        self.place = self.new_folder("ksana_install_")

    def install(self, prefix, *options):
        done = subprocess.run([self.given.cmake, "--install", self.given.build, "--prefix",
                               prefix, *options],
                              env={**os.environ, "DESTDIR": str(self.place)},
                              capture_output=True, text=True, check=False)
        equal(done.returncode, 0, done.stdout + done.stderr)
        return self.place / prefix.strip("/")

    @case
    def test_everything_is_in_its_place(self):
        usr = self.install("/usr")
        said = subprocess.run([usr / "bin" / "ksana", "--version"], capture_output=True, text=True,
                              check=True)
        contains("ksana", said.stdout)
        pages = sorted(path.name for path in (usr / "share" / "man" / "man1").iterdir())
        contains("ksana.1", pages)
        contains("ksana-job.1", pages)
        share = usr / "share"
        for path, part in (("bash-completion/completions/ksana", "complete "),
                           ("zsh/site-functions/_ksana", "#compdef ksana"),
                           ("fish/vendor_completions.d/ksana.fish", "complete -c ksana")):
            contains(part, (share / path).read_text(encoding="utf-8"), path)
        unit = (usr / "lib" / "systemd" / "system" / "ksana.service").read_text(encoding="utf-8")
        contains("ExecStart=/usr/bin/ksana server\n", unit)
        for name in ("libksana.a", "pkgconfig/ksana.pc", "cmake/ksana/ksana-config.cmake",
                     "../include/ksana/ksana.hpp"):     # the rest: tests/install
            check((usr / "lib" / name).exists(), name)
        for path in usr.rglob("*"):         # readable by all users
            wanted = 0o755 if path.is_dir() or path.parent.name == "bin" else 0o644
            equal(path.stat().st_mode & wanted, wanted, path)

    @case
    def test_the_unit_starts_what_was_installed(self):
        place = self.install("/opt/ksana", "--component", "program")
        lacks("include", [path.name for path in place.iterdir()])
        unit = (place / "lib" / "systemd" / "system" / "ksana.service").read_text(encoding="utf-8")
        contains("ExecStart=/opt/ksana/bin/ksana server\n", unit)
        lacks(str(self.place), unit)
        unit = (place / "lib/systemd/system/ksana-worker.service").read_text(encoding="utf-8")
        contains("ExecStart=/opt/ksana/bin/ksana worker --name %H ", unit)

    @case
    def test_again_over_what_is_there(self):
        self.install("/usr", "--component", "program")
        self.install("/usr", "--component", "program")


if __name__ == "__main__":
    os.umask(0o022)
    given = arguments("CMAKE BUILD")
    run(given, lambda one: one.owner(given))
