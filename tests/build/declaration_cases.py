#!/usr/bin/env python3
"""KSANA_JOB: a faulty declaration does not compile, and the message tells why (N-04).

usage: declaration_cases.py SOURCE FILE [CASE…]   SOURCE: the root of the sources; FILE: with cases
"""
import contextlib
import os
import pathlib
import subprocess
import tempfile

from kit.cases import add_case, arguments, run
from kit.checks import check, contains, equal, lacks

COMPILERS = ("g++", "clang++-19")

# The cases of declaration_refused.cpp and what the message must contain.
REFUSED = {
    "no_id": "the_id_of_the_job_is_empty",
    "empty_id": "the_id_of_the_job_is_empty",
    "dots_id": "the_id_of_the_job_is_neither_a_dot_nor_two_dots",
    "bad_id": "the_id_of_the_job_may_have_letters_digits_and_dash_underscore_dot_colon_only",
    "long_id": "the_id_of_the_job_is_longer_than_128_characters",
    "no_schedule": "the_job_has_neither_cron_nor_fixed_rate",
    "two_schedules": "the_job_has_both_cron_and_fixed_rate",
    "negative_rate": "fixed_rate_must_not_be_negative",
    "negative_delay": "initial_delay_must_not_be_negative",
    "cron_malformed": "cron_expression_is_malformed",
    "cron_range": "cron_value_is_out_of_range",
    "cron_four_fields": "cron_needs_5_fields",
    "cron_six_fields": "cron_form_is_not_in_this_dialect_it_needs_kStandard",
    "cron_last_day": "cron_form_is_not_in_this_dialect_it_needs_kStandard",
    "cron_name": "cron_form_is_not_in_this_dialect_it_needs_kStandard",
    "cron_macro": "cron_form_is_not_in_this_dialect_it_needs_kStandard",
    "cron_never": "cron_never_fires",
    "zero_ttl": "lock_ttl_must_be_positive",
    "negative_ttl": "lock_ttl_must_be_positive",
    "no_job": "the class NoJob is neither a ksana::JobExecutor nor a ksana::PlainJob",
    "abstract": "the class AbstractJob is abstract: it must override Run(ksana::JobContext&)",
    "constructor": "the class MovingJob needs a public constructor",
    "private_constructor": "the class PrivateJob needs a public constructor",
    "zone": "a_zone_needs_the_standard_dialect",
    "negative_timeout": "timeout_must_not_be_negative",
    "negative_retries": "max_retries_must_not_be_negative",
    "equal_ids": "JobWithThisIdIsDeclaredTwice",
    "namespace": "KSANA_JOB must stand outside of every namespace",
}
UNUSED_TTL = "the job runs on all nodes and takes no lock: its lock_ttl has no effect"


class Compiler:
    """Compiles declaration_refused.cpp with the public headers compiled beforehand, which makes
    a case four times as fast."""

    def __init__(self, name, sources, file, folder):
        self.file = file
        self.words = [name, "-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wshadow",
                      "-pedantic", f"-I{sources}/include", f"-I{sources}/src"]
        header = folder / "library.hpp"
        header.write_text('#include "ksana/ksana.hpp"\n', encoding="utf-8")
        made = folder / ("library.hpp.gch" if name == "g++" else "library.pch")
        subprocess.run([*self.words, "-x", "c++-header", str(header), "-o", str(made)],
                       check=True)
        self.words += ["-include", str(header)] if name == "g++" else ["-include-pch", str(made)]

    def compile(self, case, *options):
        done = subprocess.run([*self.words, "-fsyntax-only", f"-DCASE_{case}", *options, self.file],
                              env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr


def refuses(case):
    def compile_it(compiler):
        code, said = compiler.compile(case)
        check(code != 0, "the compiler accepts it")
        contains(REFUSED[case], said)
        # One fault has one error; g++ and clang each add one about the namespace's template.
        errors = said.count(" error: ")
        check(errors <= (3 if case == "namespace" else 1), f"{errors} errors: {said}")
        contains("declaration_refused.cpp:", said, "the user's line")
    return compile_it


def accepts_a_right_one(compiler):
    equal(compiler.compile("none", "-Werror"), (0, ""))


def warns_about_a_ttl_without_effect(compiler):
    code, said = compiler.compile("lock_ttl_on_all_nodes")
    equal(code, 0, said)
    contains(UNUSED_TTL, said)
    equal(said.count(" warning: "), 1, said)
    lacks(UNUSED_TTL, compiler.compile("none")[1])


def main():
    for name in COMPILERS:
        add_case(accepts_a_right_one, variant=name)
        add_case(warns_about_a_ttl_without_effect, variant=name)
        for case in REFUSED:
            add_case(refuses(case), name=f"refuses_{case}", variant=name)
    given = arguments("SOURCE FILE")
    with tempfile.TemporaryDirectory(prefix="ksana_declaration_") as folder:
        made = {}
        for name in {one.variant for one in given.cases}:
            place = pathlib.Path(folder) / name
            place.mkdir()
            made[name] = Compiler(name, given.source, given.file, place)
        run(given, lambda one: contextlib.nullcontext(made[one.variant]), parallel=2)


if __name__ == "__main__":
    main()
