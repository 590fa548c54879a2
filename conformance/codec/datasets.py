"""Case and observations files whose events are in a Parquet dataset beside the file."""

import re
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from conformance.case import MOST_EPOCHS, Case
from conformance.codec.cases import decode_case, encode_case, is_dataset
from conformance.codec.observations import decode_observations, encode_observations
from conformance.codec.strict import fields_of, identity, list_of, mapping, read
from conformance.errors import Malformed, inside, quote
from conformance.observation import Observation, Observations
from conformance.programs import integer

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}", re.ASCII)
"""A plain name beside the file, and nothing that a path or a pattern could hide in: files are hostile."""

MOST_OBSERVATIONS = 100_000


@frozen
class Dataset:
    """The dataset that holds the events: a file or a folder beside the JSON file."""

    name: str

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.name, str) or not NAME.fullmatch(self.name):
            expected = "the plain name of a Parquet file or folder beside this file (letters, digits, `.`, `_`, `-`)"
            raise Malformed(quote(self.name), expected, path=("dataset",))


def read_case_beside(path: Path) -> tuple[Case, Dataset | None]:
    """Read a case file; if its inputs are a dataset, the epochs of the case have no events."""
    return read(path, _decode_case)


def _decode_case(value: object) -> tuple[Case, Dataset | None]:
    inputs = mapping(value).get("inputs")
    if not is_dataset(inputs):
        return decode_case(value), None
    with inside("inputs"):
        fields = fields_of(inputs, required=("dataset", "epochs"))
        dataset = Dataset(fields["dataset"])
        with inside("epochs"):
            epochs = integer(fields["epochs"], least=1, most=MOST_EPOCHS)
    sources = _sources(mapping(value).get("graph"))
    return decode_case({**mapping(value), "inputs": {source: [[]] * epochs for source in sources}}), dataset


def _sources(graph: object) -> list[str]:
    """List the sources as they are given; the case itself refuses malformed ones."""
    given = graph.get("sources") if isinstance(graph, dict) else None
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []


def read_observations_beside(path: Path) -> tuple[Observations, Dataset | None]:
    """Read an observations file; if there is a dataset, the streams of each observation have no epochs."""
    return read(path, _decode_observations)


def _decode_observations(value: object) -> tuple[Observations, Dataset | None]:
    observations = mapping(value).get("observations")
    if not is_dataset(observations):
        return decode_observations(value), None
    with inside("observations"):
        fields = fields_of(observations, required=("dataset", "number", "streams"))
        dataset = Dataset(fields["dataset"])
        with inside("number"):
            number = integer(fields["number"], least=1, most=MOST_OBSERVATIONS)
        with inside("streams"):
            streams = list_of(identity, fields["streams"])
            for index, stream in enumerate(streams):
                if not isinstance(stream, str) or stream in streams[:index]:
                    raise Malformed(quote(stream), "the name of a stream, each once", path=(index,))
    seen = decode_observations({**mapping(value), "observations": []})
    return evolve(seen, observations=(Observation(dict.fromkeys(streams, ())),) * number), dataset


def encode_case_beside(case: Case, dataset: Dataset) -> dict[str, Any]:
    """Encode a case whose inputs are in that dataset."""
    return {**encode_case(case), "inputs": {"dataset": dataset.name, "epochs": case.epochs}}


def encode_observations_beside(seen: Observations, dataset: Dataset) -> dict[str, Any]:
    """Encode observations that are in that dataset."""
    fields = {"dataset": dataset.name, "number": len(seen.observations), "streams": sorted(seen.observed)}
    return {**encode_observations(evolve(seen, observations=())), "observations": fields}
