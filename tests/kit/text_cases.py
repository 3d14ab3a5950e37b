"""Text files of cases. A case is a line `$ ksana ARGUMENTS` and the expected output: lines of
standard output, lines of standard error with the prefix `! `, and `exit N` if N is not 0. A
blank line ends the case; a blank line of the output is written as "."; lines that begin with `#
` are comments. The cases of a file run in order, and later cases rely on earlier ones."""
from kit.cases import say


def read_cases(path):
    """Yields (comment lines, command, expected lines) for each case."""
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("# ")]
        rest = [line for line in lines if not line.startswith("# ")]
        if rest:
            yield comments, rest[0][2:], rest[1:]


def differences(command, expected, got):
    return (f"$ {command}\nexpected:\n  " + "\n  ".join(expected) + "\ngot:\n  "
            + "\n  ".join(got) + "\n")


def run_text_cases(path, answer, update=False, is_left_out=lambda comments: False):
    """Compares answer(command), a list of lines, with the file, and returns the suite's exit
    code. `update` instead writes the answers into the file, for a person to review."""
    written, passed, failed, left_out = [], 0, 0, 0
    for comments, command, expected in read_cases(path):
        if is_left_out(comments):
            left_out += 1
            written.append("\n".join([*comments, "$ " + command, *expected]))
            continue
        got = [line.rstrip() or "." for line in answer(command)]
        written.append("\n".join([*comments, "$ " + command, *got]))
        if got == expected:
            passed += 1
        elif not update:
            failed += 1
            say(differences(command, expected, got))
    if update:
        path.write_text("\n\n".join(written) + "\n", encoding="utf-8")
    return summary(passed, failed, left_out)


def summary(passed, failed, left_out=0):
    """Prints the summary and returns 0 only if cases ran and all passed."""
    say(f"{passed} of {passed + failed} cases passed" +
        (f", {left_out} left out" if left_out else ""))
    return 0 if passed and not failed else 1
