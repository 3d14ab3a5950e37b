"""What /metrics serves: read, and judged by promtool and the strict parser of prometheus-client."""
import json
import re
import subprocess

from kit.checks import Failure, check, equal

OPEN = "application/openmetrics-text"
# What Prometheus sends.
PROMETHEUS_ACCEPT = (f"{OPEN};version=1.0.0,{OPEN};version=0.0.1;q=0.75,"
                     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
# Debian's python3-prometheus-client belongs to this interpreter, which may not be ours.
DEBIAN_PYTHON = "/usr/bin/python3"
PARSER = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = {}
for family in text_string_to_metric_families(sys.stdin.read()):
    families[family.name] = {
        "type": family.type, "help": family.documentation, "unit": family.unit,
        "samples": [{"name": one.name, "labels": one.labels, "value": one.value,
                     "exemplar": one.exemplar and {"labels": one.exemplar.labels,
                                                   "value": one.exemplar.value,
                                                   "at": float(one.exemplar.timestamp)}}
                    for one in family.samples]}
json.dump(families, sys.stdout)
"""
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Scrape:
    """One answer in the Prometheus text format."""

    def __init__(self, text):
        self.text, self.kinds, self.helps, self.samples = text, {}, {}, []
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            if word == "#":
                what, name, said = rest.split(" ", 2)
                {"HELP": self.helps, "TYPE": self.kinds}[what][name] = said
                continue
            series, _, value = line.rpartition(" ")
            name, _, labels = series.partition("{")
            self.samples.append((name, dict(LABEL.findall(labels)), float(value)))

    def values(self, name, /, **labels):
        """Returns the samples with this name and, among others, these labels."""
        return [value for other, having, value in self.samples
                if other == name and labels.items() <= having.items()]

    def value(self, name, /, **labels):
        """Returns the sum of these samples; 0 without any."""
        return sum(self.values(name, **labels))

    def label_values(self, name, label):
        return {having[label] for other, having, _ in self.samples if other == name}

    def labels_of(self, family):
        """Returns the names of the labels that samples of the family have, or None if it has no
        samples."""
        names = {family, family + "_bucket", family + "_sum", family + "_count"}
        found = [set(having) - {"le"} for name, having, _ in self.samples if name in names]
        return set.union(*found) if found else None

    def sample_names(self):
        """Returns every name that a query may use."""
        names = set()
        for name, kind in self.kinds.items():
            names |= {name} if kind != "histogram" else {f"{name}_{part}" for part in
                                                         ("bucket", "sum", "count")}
        return names


def scrape(fetch):
    """`fetch(headers)` returns status, headers and text of /metrics."""
    status, headers, text = fetch({})
    equal(status, 200, "status")
    equal(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
    return Scrape(text)


def open_scrape(fetch, accept=PROMETHEUS_ACCEPT):
    """Returns the families of the OpenMetrics text, as the strict parser reads it."""
    status, headers, text = fetch({"Accept": accept})
    equal(status, 200, "status")
    equal(headers["Content-Type"], f"{OPEN}; version=1.0.0; charset=utf-8")
    check(text.endswith("\n# EOF\n"), "no end")
    return json.loads(tool([DEBIAN_PYTHON, "-c", PARSER], text))


def tool(command, text=None):
    """Returns what the command prints. Fails unless it exits with 0."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60,
                          check=False)
    if done.returncode:
        raise Failure(f"{command[:3]}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def promtool(*words, text=None):
    return tool(["promtool", *words], text)
