"""Serves an engine written in Python over the protocol that any other engine speaks, in a process of its own."""

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from conformance.adapters.action_log import start_action_log
from conformance.codec import digest, parse
from conformance.codec.protocol import decode_run, encode_answers, encode_description, encode_remarks
from conformance.engine import Description, Engine, RunRequest
from conformance.errors import EngineFailed, EngineUnavailable, UnknownEngine, quote
from conformance.observation import Observations
from conformance.registry import engine


def main() -> None:
    """Serve the engine that the first argument names."""
    # stdout belongs to the protocol: what the engine prints goes to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)
    start_action_log()
    try:
        serve(sys.argv[1], sys.stdin, answers)
    except BrokenPipeError:
        os._exit(0)


def serve(engine_name: str, requests: TextIO, answers: TextIO) -> None:
    """Answer requests until they end, or the engine cannot be started."""

    def say(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")

    made: Engine | None = None
    description: Description | None = None
    try:
        for line in requests:
            request = parse(line)
            if request["do"] == "start":
                made, description = _start(engine_name, say)
            elif request["do"] == "stop" or made is None or description is None:
                break
            else:
                runs = [decode_run(run) for run in request.get("runs", [request])]
                for id_, seen in run_with_errors_as_answers(made, description, runs):
                    for message in encode_answers(id_, seen):
                        say(message)
    finally:
        if made is not None:
            made.stop()


def _start(engine_name: str, say: Callable[[dict[str, Any]], None]) -> tuple[Engine | None, Description | None]:
    made = None
    try:
        made = engine(engine_name)
        description = made.start()
        message = _encode(description) | encode_remarks(getattr(made, "remarks", ()))
    except UnknownEngine as error:
        say({"unknown": str(error)})
        return made, None
    except (EngineUnavailable, EngineFailed) as error:
        say({"unavailable": str(error)})
        return made, None
    except Exception as error:  # noqa: BLE001 - any exception of an engine is its error
        say({"unavailable": _cause(error)})
        return made, None
    say(message)
    return made, description


def _encode(description: object) -> dict[str, Any]:
    if not isinstance(description, Description):
        raise EngineUnavailable(
            f"its start() returned {quote(description)}; it has to return a conformance.engine.Description"
        )
    try:
        return encode_description(description)
    except Exception as error:  # noqa: BLE001 - its parts can be anything
        raise EngineUnavailable(f"its start() returned a malformed Description: {_cause(error)}") from None


def run_with_errors_as_answers(
    made: Engine, description: Description, runs: Sequence[tuple[int, RunRequest]]
) -> Iterator[tuple[int, Observations]]:
    """Run cases on an engine. An exception is the error of its case; the cases after it are requested again."""
    waiting = list(runs)
    while waiting:
        answers = iter(made.run([request for _, request in waiting]))
        while waiting:
            id_, request = waiting.pop(0)
            try:
                seen = next(answers)
                wrong = _refusal(seen, request, description)
            except StopIteration:
                wrong = "it answered fewer cases than it was given"
            except Exception as error:  # noqa: BLE001 - any exception of an engine is its error
                wrong = _cause(error)
            if wrong:
                yield id_, Observations(digest(request.case), (), end="error", message=wrong)
                break
            yield id_, seen


def _refusal(seen: object, request: RunRequest, description: Description) -> str:
    if not isinstance(seen, Observations):
        return f"it answered with a {type(seen).__name__}, not with Observations"
    if seen.case_digest != digest(request.case):
        return f"it answered for another case: {quote(seen.case_digest)}"
    if seen.claims != description.claims:
        return f"it claims {seen.claims} for its observations, and claimed {description.claims} when it was started"
    return ""


def _cause(error: Exception) -> str:
    """Describe an exception and its place in a line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"it raised {type(error).__name__}: {error} ({last.filename}, line {last.lineno})"
