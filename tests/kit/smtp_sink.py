"""An SMTP server that keeps every mail: the part of RFC 5321 that a client needs."""
import base64
import email
import email.policy
import socketserver
import ssl
import subprocess
import tempfile
import threading

from kit.waiting import wait_on


class SmtpSink:
    """Keeps mails. `password`: the client must use AUTH PLAIN with the user "ksana". `refuse`:
    recipients that are answered with 550; `later`: with 451. `tls`: offers STARTTLS with a
    self-signed certificate."""

    def __init__(self, password=None, refuse=(), later=(), tls=False, port=0):
        self.password, self.refuse, self.later = password, set(refuse), set(later)
        self.mails, self.changed = [], threading.Condition()
        self.context = self.make_context() if tls else None
        sink = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                try:
                    Dialogue(sink, self).run()
                except (OSError, ssl.SSLError):
                    pass

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"smtp://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def make_context():
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = f"{folder}/key.pem", f"{folder}/cert.pem"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                            key, "-out", certificate, "-days", "2", "-subj", "/CN=127.0.0.1"],
                           check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            return context

    def keep(self, sender, recipients, data):
        mail = email.message_from_bytes(data, policy=email.policy.default)
        with self.changed:
            self.mails.append((sender, recipients, mail))
            self.changed.notify_all()

    def await_mails(self, count):
        wait_on(self.changed, lambda: len(self.mails) >= count,
                lambda: f"{count} mails, of which {len(self.mails)} came")
        return list(self.mails)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Dialogue:
    """One connection of the SMTP server."""

    def __init__(self, sink, handler):
        self.sink, self.handler = sink, handler
        self.reader, self.writer = handler.rfile, handler.wfile
        self.secure, self.known = False, sink.password is None
        self.sender, self.recipients = None, []

    def say(self, line):
        self.writer.write(line.encode() + b"\r\n")
        self.writer.flush()

    def run(self):
        self.say("220 sink")
        while True:
            line = self.reader.readline().decode().strip()
            if not line:
                return
            word = line.split(" ")[0].upper()
            if word == "QUIT":
                self.say("221 bye")
                return
            getattr(self, "do_" + word.lower(), self.do_unknown)(line)

    def do_unknown(self, _):
        self.say("502 what?")

    def do_ehlo(self, _):
        offers = ["250-sink"]
        if self.sink.context and not self.secure:
            offers.append("250-STARTTLS")
        if self.sink.password is not None:
            offers.append("250-AUTH PLAIN")
        for offer in offers:
            self.say(offer)
        self.say("250 8BITMIME")

    def do_starttls(self, _):
        self.say("220 go on")
        connection = self.sink.context.wrap_socket(self.handler.connection, server_side=True)
        self.reader, self.writer = connection.makefile("rb"), connection.makefile("wb")
        self.secure = True

    def do_auth(self, line):
        words = line.split(" ")
        if len(words) < 3:
            self.say("334 ")
            words.append(self.reader.readline().decode().strip())
        given = base64.b64decode(words[2]).decode().split("\0")
        self.known = given[1:] == ["ksana", self.sink.password]
        self.say("235 welcome" if self.known else "535 who are you?")

    def do_mail(self, line):
        if not self.known:
            self.say("530 who are you?")
            return
        self.sender, self.recipients = line.split("<")[1].split(">")[0], []
        self.say("250 ok")

    def do_rcpt(self, line):
        address = line.split("<")[1].split(">")[0]
        if address in self.sink.refuse:
            self.say("550 nobody of that name")
            return
        if address in self.sink.later:
            self.say("451 not now")
            return
        self.recipients.append(address)
        self.say("250 ok")

    def do_data(self, _):
        self.say("354 go on")
        lines = []
        while (line := self.reader.readline()) != b".\r\n":
            lines.append(line[1:] if line.startswith(b"..") else line)
        self.sink.keep(self.sender, self.recipients, b"".join(lines))
        self.say("250 kept")
