"""Places: what a case works with, made for the case and closed after it.

A place is a context manager whose value is the argument of the case, or the tuple of its arguments.
"""
import contextlib
import pathlib
import shutil
import subprocess
import tempfile

from kit.cases import run
from kit.checks import Failure, check, equal
from kit.postgres import store_of
from kit.server import Server
from kit.targets import Target
from kit.waiting import PATIENCE

PARALLEL = 3            # cases mostly wait, so several run in parallel


class Place(contextlib.ExitStack):
    """Creates in open() what a case needs, and closes it in reverse order: everything that
    open() and the case entered or registered (ExitStack)."""

    def __init__(self, given=None):
        super().__init__()
        self.given = given          # the words of the command line

    def __enter__(self):
        super().__enter__()
        try:
            self.open()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def open(self):
        pass

    def new_folder(self, prefix):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        self.callback(shutil.rmtree, folder, ignore_errors=True)
        return folder


class ServerPlace(Place):
    """A folder and a target. The case itself starts servers."""

    def open(self):
        self.binary = self.given.ksana
        self.folder = self.new_folder("ksana_run_")
        self.target = self.enter_context(Target())

    def server(self, environment=None, flags=(), store="sqlite"):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="server_", dir=self.folder))
        folder.chmod(0o755)
        return self.enter_context(Server(self.binary, store, folder=str(folder),
                                         environment=environment, flags=flags))

    def refusal(self, environment=None, flags=(), store="sqlite", patience=PATIENCE, wrapper=()):
        """Returns exit code and message of a server that must not start."""
        server = self.server(environment, flags, store)
        try:
            done = subprocess.run([*wrapper, self.binary, "server", *flags], cwd=server.folder,
                                  env=server.environment, capture_output=True, text=True,
                                  timeout=patience, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"{environment} {flags}: it has started") from None
        check("is ready" not in done.stderr, f"it was ready: {done.stderr}")
        return done.returncode, done.stderr

    def file(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return str(path)


def run_in_server_places(given):
    run(given, lambda _: ServerPlace(given), PARALLEL)


def run_on_store(given, make_arguments, environment=None, flags=()):
    """Runs each case with a target and a running server on the store `given.store`. The case
    gets make_arguments(server, target). After the case, the server must stop with exit code 0.
    `environment` may be a function of the case."""
    @contextlib.contextmanager
    def place(one):
        given_to = environment(one) if callable(environment) else environment
        server = Server(given.ksana, store_of(given.store), environment=given_to, flags=flags)
        with Target() as target, server:
            server.start()
            yield make_arguments(server, target)
            target.released.set()
            equal(server.stop(), 0, "exit code")

    run(given, place, PARALLEL)
