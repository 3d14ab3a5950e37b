"""The measurements of a benchmark and their goals."""
from machine import cpu_by_thread


class Report:
    """Table rows: what was measured, the value, the goal and whether it was met."""

    def __init__(self):
        self.rows = []
        self.missed = 0

    def add(self, what, measured, unit, goal=None, at_least=False, digits=None):
        """Adds a measurement. `goal` is the most that is allowed, or the least with `at_least`."""
        digits = digits if digits is not None else (0 if measured >= 1000 else 2)
        text = f"{measured:,.{digits}f}{unit}"
        if goal is None:
            self.row(what, text)
            return
        if measured >= goal if at_least else measured <= goal:
            verdict = "met"
        else:
            verdict = f"**missed**, {measured / goal:.2f} of the goal" if goal else "**missed**"
            self.missed += 1
        self.row(what, text, f"{'≥' if at_least else '≤'} {goal:,g}{unit}", verdict)

    def row(self, what, measured, goal="-", verdict="-"):
        self.rows.append((what, measured, goal, verdict))
        print(f"   {what}: {measured}; goal {goal}; {verdict}", flush=True)

    def fires(self, found, expected):
        """Adds rows about completeness: how many distinct fires arrived, and how many more than
        once."""
        missing = expected - found["distinct"]
        self.row("fires that came", f"{found['distinct']:,} of {expected:,}", "all",
                 "met" if missing == 0 else f"**missed**, {missing:,} are not there")
        self.missed += missing != 0
        again = found["count"] - found["distinct"]
        if again or found["strange"]:
            self.row("called twice; without a nominal time", f"{again:,}; {found['strange']:,}")


def tell_cpu(report, server, before, count, prefix=""):
    """Adds the CPU time of the server for one of `count` operations, and its busiest threads."""
    used = cpu_by_thread(server.pid)
    used.subtract(before)
    micros_of = {name: seconds / max(count, 1) * 1e6 for name, seconds in used.most_common()}
    most = ", ".join(f"{name} {value:.0f}" for name, value in list(micros_of.items())[:4])
    report.row(f"{prefix}CPU of the server for one", f"{sum(micros_of.values()):.0f} µs ({most})")
