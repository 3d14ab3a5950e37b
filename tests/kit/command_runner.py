"""Runs the built command line with a line of shell-like text, and normalises its output for
comparison: ids are numbered, times and ports are replaced by names."""
import re
import shlex
import subprocess

from kit.terminal import Screen
from kit.waiting import PATIENCE

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
TOOK = re.compile(r"(?<![\w.-])(\d+(\.\d+)?ms|\d(\.\d+)?s|\d+µs)(?![\w.-])")
RECENT = re.compile(r"(?:(?<=  )now|\b\d+s ago)( *)(?=\s|$)", re.MULTILINE)
COMING = re.compile(r"\bin (?:\d+[smhdy])+( *)(?=\s|$)", re.MULTILINE)
YEARS = re.compile(r"\b\d+y ago\b")
PROGRESS = re.compile(r"! (queued|scheduled|running|completing)(, .*)?$")
MEASURED = re.compile(r"(_ms\"?:? +)[\d.]+")
LOCAL = re.compile(r"\b[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? ([A-Z]{3})")
TRACE = re.compile(r"\b[0-9a-f]{32}\b")


class CommandRunner:
    """Runs commands and keeps the ids of their output, so that {id:1} in a line stands for the
    first id."""

    def __init__(self, binary, folder, environment, places):
        self.binary, self.folder, self.environment = binary, str(folder), environment
        self.places = places            # name -> text; a line may use it as {name}
        self.ids = []

    def line(self, text):
        for name, value in self.places.items():
            text = text.replace("{" + name + "}", value)
        return re.sub(r"\{id:(\d+)\}", lambda found: self.ids[int(found.group(1)) - 1], text)

    def parts(self, text):
        """Returns (variables, words of the command, standard input, whether it gets a terminal)."""
        words = shlex.split(self.line(text))
        terminal = words[0] == "[tty]"
        words = words[1:] if terminal else words
        variables = {}
        while re.match(r"[A-Z_]+=", words[0]):
            name, _, value = words.pop(0).partition("=")
            variables[name] = value
        given = ""
        if "<<<" in words:
            at = words.index("<<<")
            given, words = words[at + 1], words[:at]
        return variables, [self.binary, *words[1:]], given, terminal

    def run(self, text):
        """Returns the output lines: standard output, then standard error with the prefix `! `,
        then `exit N`."""
        variables, command, given, terminal = self.parts(text)
        environment = {**self.environment, **variables}
        if terminal:
            environment = {"TERM": "xterm", **environment}
            code, out = Screen(command, environment, self.folder).end()
            lines = out.replace("\x1b", "\\e").splitlines()
        else:
            done = subprocess.run(command, input=given, cwd=self.folder, env=environment,
                                  capture_output=True, text=True, timeout=PATIENCE, check=False)
            code = done.returncode
            lines = done.stdout.splitlines() + ["! " + one for one in done.stderr.splitlines()]
            lines = [line for line in lines if not PROGRESS.match(line)]    # progress lines vary
            trailing = [line for line in done.stdout.splitlines() if line != line.rstrip()]
            assert not trailing, f"blanks at the end of a line: {trailing}"
        lines = self.normal("\n".join(lines)).split("\n") if lines else []
        return lines + ([f"exit {code}"] if code else [])

    def normal(self, text):
        text = re.sub(r"request [0-9a-f-]+\)", "request ID)", text)
        for found in UUID.findall(text):
            if found not in self.ids:
                self.ids.append(found)
        text = UUID.sub(lambda found: f"00000000-0000-0000-0000-"
                        f"{self.ids.index(found.group(0)) + 1:012d}", text)
        for name, value in self.places.items():
            text = text.replace(value, f"http://{name}")
            text = text.replace(value.removeprefix("http://"), name)
        text = text.replace(self.folder, "FOLDER")
        text = TIME.sub(lambda found: "YYYY-MM-DDTHH:MM:SS.uuuuuuZ" if found.group(1)
                        else "YYYY-MM-DDTHH:MM:SSZ", text)
        text = LOCAL.sub(r"DAY YYYY-MM-DD HH:MM:SS \1", text)
        text = RECENT.sub(lambda found: "recently" + " " * (len(found.group(0)) - 8), text)
        # The time until 1 January, and since 2020, depends on the day of the test.
        text = COMING.sub(lambda found: "in N".ljust(len(found.group(0)) if found.group(1) else 0),
                          text)
        text = YEARS.sub("Ny ago", text)
        text = TRACE.sub("TRACE", MEASURED.sub(r"\1N", text))
        if "TOOK" in text:          # the width of the column varies
            text = re.sub(r"(?<=\S) {2,}", "  ", TOOK.sub("TOOK", text))
        return text
