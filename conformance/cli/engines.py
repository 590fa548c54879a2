"""`conformance engines`: the engines that can run here, and why others cannot."""

import json

import click

from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.cli.options import as_json
from conformance.cli.say import say
from conformance.codec.protocol import encode_description
from conformance.engine import Description
from conformance.errors import ConformanceError, UnknownEngine
from conformance.registry import engine, names


@click.command()
@as_json
def engines(as_json: bool) -> None:
    """List every installed engine: its capabilities, or why it cannot run here."""
    for name in names():
        description, variants, why = _try(name)
        if as_json:
            click.echo(json.dumps(_encode(name, description, why)))
        elif description is None:
            say(f"{name}: {why}")
        else:
            can = description.capabilities
            failures = ", ".join(sorted(can.failures)) or "none"
            say(f"{name} {description.info.version}: ready; failures: {failures}; programs: {len(can.programs)} of 10")
        for variant, because in variants.items():
            if as_json:
                click.echo(
                    json.dumps({"engine": variant, "ready": not because} | ({"because": because} if because else {}))
                )
            else:
                say(f"{variant}: {because or 'ready'}")


def _try(name: str) -> tuple[Description | None, dict[str, str], str]:
    """Start an engine in a process of its own, whose output is not printed."""
    try:
        made = SubprocessEngine(name)
    except UnknownEngine as error:
        return None, {}, f"needs a setting: {error}"
    try:
        description = made.start()
        # An engine names its other variants, such as `flink:processes`; they are not started.
        others: dict[str, str] = getattr(engine(name), "places", dict)()
        return description, {f"{name}:{variant}": why for variant, why in others.items()}, ""
    except ConformanceError as error:
        return None, {}, str(error)
    finally:
        made.stop()


def _encode(name: str, description: Description | None, why: str) -> dict[str, object]:
    if description is None:
        return {"engine": name, "ready": False, "because": why}
    encoded = encode_description(description)
    return {"engine": name, "ready": True, "info": encoded.pop("engine"), **encoded}
