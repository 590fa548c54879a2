"""Masters of Spark's standalone clusters, `spark://HOST:PORT`: whether one answers there."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from conformance.errors import EngineFailed, EngineUnavailable

ADDRESSES = r"spark://(?P<addresses>[A-Za-z0-9_.-]+:\d{1,5}(,[A-Za-z0-9_.-]+:\d{1,5})*)"
"""A regular expression for the URL of a master, or of several, one of which leads."""

ANSWER_SECONDS = 5.0
"""Seconds in which a master has to answer."""


def check_master(master: str, alternative: str) -> None:
    """Refuse the URL of a master where none answers. Spark would notice after a minute, with an error in Java."""
    match = re.fullmatch(ADDRESSES, master)
    if match is None:
        return
    reasons = []
    for address in match["addresses"].split(","):
        host, _, port = address.partition(":")
        try:
            socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
        except (OSError, OverflowError) as error:
            reasons.append(str(getattr(error, "strerror", None) or error))
        else:
            return
    host, _, port = match["addresses"].split(",")[0].partition(":")
    start = f"`spark-class org.apache.spark.deploy.master.Master --host {host} --port {port}`"
    raise EngineUnavailable(
        f"no Spark master answers at {match['addresses']} ({', '.join(dict.fromkeys(reasons))}); "
        f"start one with {start}, or {alternative}"
    )


@contextmanager
def explained_by_master(master: str) -> Iterator[None]:
    """Say, if the first driver does not start, that what answers may be another program than a Spark master."""
    try:
        yield
    except EngineFailed as error:
        if re.fullmatch(ADDRESSES, master) is None:
            raise
        raise EngineUnavailable(f"{error}; is {master} a Spark master of this version, and not its web UI?") from error
