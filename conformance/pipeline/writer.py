"""
Writing cases and observations as datasets: two JSON files, and a Parquet file beside each.

Every file is written under another name and renamed when it is complete, the JSON files last. So a dataset that looks
complete is complete.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from conformance.case import Case, Epochs
from conformance.codec.cases import canonical, content, digest
from conformance.codec.datasets import Dataset, encode_case_beside, encode_observations_beside
from conformance.codec.strict import write_text
from conformance.errors import Unwritable
from conformance.observation import Observations
from conformance.pipeline.dataset import Kind
from conformance.pipeline.segments import RECORDED
from conformance.programs import Event

INPUTS, SEEN = Dataset("inputs.parquet"), Dataset("seen.parquet")
CASE, OBSERVATIONS = "case.json", "observations.json"


def write(folder: Path, case: Case, seen: Observations) -> tuple[Path, Path]:
    """Write a case and observations into a folder; return the files for `check --on`."""
    recorded = {RECORDED: case.inputs}
    observed = {index: each.streams for index, each in enumerate(seen.observations)}
    write_table(folder / INPUTS.name, table(recorded, kind_of(recorded)).drop_columns(["observation"]))
    write_table(folder / SEEN.name, table(observed, kind_of(observed)))
    contents = {source: [content(events) for events in case.inputs[source]] for source in case.graph.sources}
    seen = evolve(seen, case_digest=digest(case, contents))
    return write_json_files(folder, encode_case_beside(case, INPUTS), encode_observations_beside(seen, SEEN))


def write_json_files(folder: Path, case: dict[str, Any], seen: dict[str, Any]) -> tuple[Path, Path]:
    """Write the two JSON files. Their datasets have been written."""
    files = folder / CASE, folder / OBSERVATIONS
    for file, value in zip(files, (case, seen), strict=True):
        _refuse_overwriting(file)
        write_text(file, json.dumps(value) + "\n")
    return files


def write_table(path: Path, rows: Any) -> None:
    """Write a Parquet file, completely or not at all."""
    from pyarrow import parquet  # noqa: PLC0415 - it comes with the extra `spark`

    _refuse_overwriting(path)
    unfinished = path.with_name(f".{path.name}.part")
    try:
        parquet.write_table(rows, unfinished)
        unfinished.rename(path)
    except OSError as error:
        raise Unwritable(str(path), error.strerror or str(error), "Give another folder.") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _refuse_overwriting(path: Path) -> None:
    if path.exists():
        raise Unwritable(str(path), "it exists already", "Give a new folder, or remove it.")


def kind_of(streams: Mapping[int, Mapping[str, Epochs]]) -> Kind:
    """Return the type of a column for these events: integers, unless there is text among them."""
    events = (event for each in streams.values() for epochs in each.values() for epoch in epochs for event in epoch)
    return "integers" if all(isinstance(event, int) for event in events) else "text"


def table(streams: Mapping[int, Mapping[str, Epochs]], kind: Kind) -> Any:
    """Return the rows of these streams, by observation."""
    import pyarrow as pa  # noqa: PLC0415 - it comes with the extra `spark`

    rows = list(_rows(streams, kind))
    value = pa.int64() if kind == "integers" else pa.string()
    types = {"observation": pa.int64(), "stream": pa.string(), "epoch": pa.int64(), "seq": pa.int64(), "value": value}
    columns: Sequence[Any] = list(zip(*rows, strict=True)) or [()] * len(types)
    return pa.table(
        {name: pa.array(column, type_) for (name, type_), column in zip(types.items(), columns, strict=True)}
    )


def _rows(streams: Mapping[int, Mapping[str, Epochs]], kind: Kind) -> Iterator[tuple[int, str, int, int, Event | None]]:
    for origin, each in streams.items():
        for stream, epochs in each.items():
            seq = 0
            for epoch, events in enumerate(epochs, start=1):
                for value in (*(event if kind == "integers" else canonical(event) for event in events), None):
                    yield origin, stream, epoch, seq, value
                    seq += 1
