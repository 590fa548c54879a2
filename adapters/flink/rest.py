"""
Client of Flink's REST interface.

It uses urllib3, which is installed with PyFlink: the driver polls hundreds of times a second, and the layers that
`requests` puts above urllib3 take twice the time of the rest.
"""

import json
from http import HTTPStatus
from typing import Any

from urllib3 import HTTPConnectionPool
from urllib3.exceptions import HTTPError

LOOPBACK = "127.0.0.1"
"""The address of clusters on this machine."""

ANSWER_SECONDS = 30
"""Seconds for an answer."""

CONNECTIONS = 16
"""Connections that are kept at most: more than there are threads."""

GLOBALLY_TERMINAL = {"FAILED", "CANCELED", "FINISHED"}
"""The states of a job that has ended for good."""

TERMINAL = GLOBALLY_TERMINAL | {"SUSPENDED"}
"""The states of a job that this JobManager does not run any more."""


class RestError(Exception):
    """Flink answered with an error."""

    def __init__(self, status: int, answer: str) -> None:
        super().__init__(f"{status}: {answer[:300]}")


class RestClient:
    """Requests to one cluster, with connections that are kept. Threads can share it."""

    def __init__(self, host: str, port: int) -> None:
        self._connect(host, port)

    def _connect(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._pool = HTTPConnectionPool(host, port, timeout=ANSWER_SECONDS, maxsize=CONNECTIONS, retries=False)

    def move(self, host: str, port: int) -> None:
        """Send further requests to another address."""
        if (host, port) != (self.host, self.port):
            self._connect(host, port)

    def get(self, path: str) -> Any:
        """Request a resource, and return it."""
        return self._request("GET", path)

    def post(self, path: str, **body: Any) -> Any:
        """Request an operation, and return the answer."""
        return self._request("POST", path, json.dumps(body))

    def patch(self, path: str) -> Any:
        """Request a change; Flink's only one is to cancel a job."""
        return self._request("PATCH", path)

    def _request(self, method: str, path: str, body: str | None = None) -> Any:
        """Raise `OSError` where there is no answer, and `RestError` where it is an error."""
        try:
            response = self._send(method, path, body)
        except HTTPError:
            # The cluster may have closed a kept connection. A second error is about the cluster itself.
            try:
                response = self._send(method, path, body)
            except HTTPError as error:
                raise OSError(str(error)) from error
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise RestError(response.status, response.data.decode("utf-8", "replace"))
        return json.loads(response.data) if response.data else {}

    def _send(self, method: str, path: str, body: str | None) -> Any:
        headers = {"Content-Type": "application/json"}
        return self._pool.request(method, path, body=body, headers=headers, redirect=False)
