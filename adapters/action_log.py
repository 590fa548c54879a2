"""
The action log of an adapter: state transitions, commands and fault injections, with times.

Adapters use Python's `logging`, with loggers below `conformance.adapters`; their names tell the engine:

    LOGGER = logging.getLogger("conformance.adapters.spark")
    LOGGER.info("query %s: killed the driver", query)

The process that serves an adapter writes these into the file that the environment variable `CONFORMANCE_ACTION_LOG`
names. In a campaign that is `logs/adapter.log` in the results folder.
"""

import logging
import os
import time
from collections.abc import Iterable
from logging.handlers import RotatingFileHandler

from conformance.adapters.supervisor import LONGEST_LOG
from conformance.codec import digest
from conformance.engine import RunRequest

ACTION_LOG = "CONFORMANCE_ACTION_LOG"
"""The environment variable that names the file."""

PARENT = "conformance.adapters"


class _Formatter(logging.Formatter):
    """A line with the time in UTC, to the millisecond, the engine and the action."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        record.engine = record.name.removeprefix(f"{PARENT}.")
        return super().format(record)


def case_digests(requests: Iterable[RunRequest]) -> str:
    """Name the cases of run requests in a line of the log."""
    return " ".join(digest(request.case)[:12] for request in requests)


def start_action_log() -> None:
    """Write what the adapters of this process log, if a file is named. The file is made with its first line."""
    if file := os.environ.get(ACTION_LOG):
        handler = RotatingFileHandler(file, maxBytes=LONGEST_LOG, backupCount=1, encoding="utf-8", delay=True)
        handler.setFormatter(_Formatter("%(asctime)s %(engine)s %(message)s"))
        logger = logging.getLogger(PARENT)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
