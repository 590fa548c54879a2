"""One Spark for all of these tests."""

import pytest

from conformance.pipeline.check import read
from conformance.pipeline.cluster import session


@pytest.fixture(scope="session")
def spark():
    """A small Spark; no test needs more than two partitions."""
    with session("local[2]", {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}) as made:
        yield made


@pytest.fixture
def answer(spark):
    """The verdict on two files, on that Spark."""
    return lambda files: read(*files).answered(spark, 30.0, lambda _: None)
