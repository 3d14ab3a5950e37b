"""BullMQ and graphile-worker with workload W4 of ../shared/bench/peers: one-shot jobs over 10 s."""
import peers

LEAD_MS = 8000      # time to load the jobs before the first is due


def lateness(rows, jobs):
    if isinstance(rows, str):
        return rows
    if rows[0]["n"] != jobs or rows[0]["late_load"]:
        return f"{rows[0]['n']} of {jobs} came; loading took {rows[0]['load_ms']} ms"
    return {row["metric"].removeprefix("lateness_"): row["value"] for row in rows}


def measure(jobs, window_ms):
    """Returns {name: {"p50", "p99", "max"} in ms, or a text that says why it was not measured}."""
    names = ("BullMQ", "graphile-worker")
    with peers.ready() as servers:
        if isinstance(servers, str):
            return {name: servers for name in names}
        return {name: lateness(peers.drive(server, peer, "delay", n=jobs, window=window_ms,
                                           lead=LEAD_MS), jobs)
                for name, server, peer in
                ((names[0], servers.Redis("everysec"), "bullmq/tuned"),
                 (names[1], servers.Postgres(), "graphile-worker/tuned"))}
