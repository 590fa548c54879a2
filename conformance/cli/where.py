"""Where the model's work is done: what `--on` means."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from conformance.campaign.place import Here, Place


@contextmanager
def place(master: str | None) -> Iterator[Callable[[], Place]]:
    """Where the model's work is done: here or, if a master is given, on its cluster, while the block lasts."""
    if master is None:
        yield Here
        return
    from conformance.pipeline.cluster import session  # noqa: PLC0415 - it is not needed otherwise
    from conformance.pipeline.slices import OnCluster  # noqa: PLC0415
    from conformance.pipeline.work import Cluster  # noqa: PLC0415

    with session(master) as spark:
        yield lambda: OnCluster(Cluster(spark))
