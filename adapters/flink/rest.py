"""Flink's REST interface, as far as it is needed: a connection that is kept, and answers as JSON."""

import http.client
import json
import threading
from typing import Any

SECONDS = 30
"""That an answer may take."""


class Refused(Exception):
    """Flink said no: `code` is HTTP's."""

    def __init__(self, code: int, said: str) -> None:
        super().__init__(f"{code}: {said[:300]}")
        self.code = code


class Kept(http.client.HTTPConnection):
    """A connection that is closed when the thread ends that has it."""

    def __del__(self) -> None:
        self.close()


class Rest:
    """One cluster's. Threads have connections of their own."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._own = threading.local()

    def move(self, host: str, port: int) -> None:
        """It is somewhere else now."""
        if (host, port) != (self.host, self.port):
            self.host, self.port, self._own = host, port, threading.local()

    def get(self, path: str) -> Any:
        """Ask for something."""
        return self.ask("GET", path)

    def post(self, path: str, **body: Any) -> Any:
        """Ask for something to be done."""
        return self.ask("POST", path, body)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """A request; `OSError` where nobody answers, `Refused` where the answer is no."""
        said = None if body is None else json.dumps(body)
        for again in (True, False):
            connection = getattr(self._own, "connection", None)
            if connection is None:
                connection = self._own.connection = Kept(self.host, self.port, timeout=SECONDS)
            try:
                connection.request(method, path, said, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                break
            except (http.client.HTTPException, OSError) as error:
                connection.close()
                self._own.connection = None
                # A connection that was kept may have been closed meanwhile; a new one says the truth.
                if not again:
                    raise error if isinstance(error, OSError) else OSError(str(error)) from error
        if answer.status >= http.client.BAD_REQUEST:
            raise Refused(answer.status, text.decode("utf-8", "replace"))
        return json.loads(text) if text else {}
