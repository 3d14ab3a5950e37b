"""The targets of the chaos suite, and what they saw.

HTTP calls come to a server in this process, which refuses a fence older than one it has seen for
the same run, as a real receiver would. Commands write a line when they begin and when they end into
one file, which all of them append to.
"""
import hashlib
import http.server
import pathlib
import threading
import time
from datetime import datetime, timezone

from chaos.checker import Effect
from kit.times import utc_now

# A command that works for a while. Its parameters come from the environment of every command.
COMMAND = ('echo "begin $KSANA_RUN_ID $KSANA_EXEC_ID $KSANA_FENCE $(date +%s.%N)" >> {log}; '
           'sleep {takes}; '
           'echo "end $KSANA_RUN_ID $KSANA_EXEC_ID $KSANA_FENCE $(date +%s.%N)" >> {log}')


def attempt_id_of(exec_id):
    """Returns what targets are told of an attempt instead of its exec_id."""
    return hashlib.sha256(b"ksana attempt " + exec_id.encode()).hexdigest()[:32]


class Oracle:
    def __init__(self, folder):
        self.log = pathlib.Path(folder) / "commands.log"
        self.log.touch()
        self.log.chmod(0o666)
        self.mutex, self.effects, self.newest = threading.Lock(), [], {}
        oracle = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                effect = oracle.begin(self.headers)
                words = self.path.strip("/").split("/")
                if words[0] == "slow":
                    time.sleep(float(words[1]))     # the work of this target takes time
                effect.ended = utc_now()
                try:
                    self.send_response(200 if effect.accepted else 409)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                except OSError:
                    self.close_connection = True

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, request, client_address):
                """Ignores errors: a killed server resets its connections."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def begin(self, headers):
        run_id, fence = headers["Ksana-Run-Id"], int(headers["Ksana-Fence"])
        with self.mutex:
            effect = Effect(run_id, headers["Ksana-Exec-Id"], fence, utc_now())
            effect.accepted = fence >= self.newest.get(run_id, 0)
            self.newest[run_id] = max(fence, self.newest.get(run_id, 0))
            self.effects.append(effect)
        return effect

    def command(self, takes):
        return COMMAND.format(log=self.log, takes=takes)

    def of_commands(self):
        """Returns the effects of commands, in the order of their begins. A command that began with
        an older fence than another one of its run was not refused by anything: the store fences
        its report, and it is counted as refused here."""
        effects, newest = {}, {}
        for line in self.log.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if len(words) != 5:
                continue        # a kill truncated the line
            kind, run_id, exec_id, fence, at = words
            moment = datetime.fromtimestamp(float(at), timezone.utc)
            if kind == "begin":
                accepted = int(fence) >= newest.get(run_id, 0)
                newest[run_id] = max(int(fence), newest.get(run_id, 0))
                effects[exec_id] = Effect(run_id, exec_id, int(fence), moment, accepted=accepted)
            elif exec_id in effects:
                effects[exec_id].ended = moment
        return list(effects.values())

    def seen(self):
        with self.mutex:
            return list(self.effects) + self.of_commands()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
