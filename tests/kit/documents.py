"""Fenced code blocks of Markdown documents."""
import pathlib
import re


def fenced_blocks(path, language):
    """Returns the text of each block of this language; "" selects blocks without a language."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return [block for found, block in re.findall(r"^```(\w*)\n(.*?)^```", text,
                                                 re.MULTILINE | re.DOTALL) if found == language]


def python_names(path):
    """Runs the Python blocks of a document and returns the names that they define."""
    names = {}
    exec(compile("".join(fenced_blocks(path, "python")), str(path), "exec"), names)
    return names
