"""Fenced code blocks of Markdown documents."""
import pathlib
import re


def fenced_blocks(path, language):
    """The text of each block of this language; "" is a block without one."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return [block for found, block in re.findall(r"^```(\w*)\n(.*?)^```", text,
                                                 re.MULTILINE | re.DOTALL) if found == language]


def python_names(path):
    """The names that the Python blocks of a document define: its code is run."""
    names = {}
    exec(compile("".join(fenced_blocks(path, "python")), str(path), "exec"), names)
    return names
