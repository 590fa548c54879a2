"""One Spark session for all of these tests."""

import pytest

from conformance.pipeline.check import read_request
from conformance.pipeline.cluster import session


@pytest.fixture(scope="session")
def spark():
    """Start a small Spark; no test needs more than two partitions."""
    with session("local[2]", {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"}) as made:
        yield made


@pytest.fixture
def answer(spark):
    """Return a function that judges two files with that Spark."""
    return lambda files: read_request(*files).judge(spark, 30.0, lambda _: None)
