"""Flink, Spark and the model on the same cases."""

from contextlib import ExitStack

import pytest

from conformance.adapters.subprocess_engine import SubprocessEngine
from conformance.engine import RunRequest
from conformance.generators import cases
from conformance.generators.collect import collect
from conformance.generators.sizes import Size
from conformance.judge import Budget, Conforms, judge

pytestmark = pytest.mark.flink

NUMBER = 10


@pytest.mark.full
def test_flink_and_spark_show_the_same_as_the_model():
    with ExitStack() as stack:
        engines = [SubprocessEngine(word) for word in ("reference", "flink:embedded", "spark:local")]
        for engine in engines:
            stack.callback(engine.stop)
        described = [engine.start() for engine in engines]
        common = described[1].capabilities.common(described[2].capabilities)
        # With one input each, tasks have one possible output; with more, the judge has to explain the engine's choices.
        chosen = [
            case
            for inputs in (1, 3)
            for case in collect(cases(capabilities=common, size=Size(inputs=inputs)), number=NUMBER, seed=4)
        ]
        assert sum(bool(case.failures) for case in chosen) >= NUMBER / 2
        shown = [list(engine.run([RunRequest(case, seconds=300) for case in chosen])) for engine in engines]
        for number, (case, *seen) in enumerate(zip(chosen, *shown, strict=True)):
            for each in seen:
                assert isinstance(judge(case, each, Budget(steps=150_000)), Conforms), (case, each)
            if number < NUMBER:
                model, flink, spark = (each.observations[-1].streams for each in seen)
                assert model == flink == spark, case
