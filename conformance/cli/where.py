"""Where the model's work is done: what `--on` means. Nothing is imported for it before it is needed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from conformance.campaign.executor import Place

T = TypeVar("T")


@contextmanager
def place(master: str | None) -> Iterator[Callable[[], "Place"]]:
    """Where the model's work is done: here or, if a master is given, on its cluster, while the block lasts."""
    if master is None:
        from conformance.campaign.executor import Here  # noqa: PLC0415

        yield Here
        return
    from conformance.pipeline.cluster import session  # noqa: PLC0415
    from conformance.pipeline.slices import OnCluster  # noqa: PLC0415
    from conformance.pipeline.work import Cluster  # noqa: PLC0415

    with session(master) as spark:
        yield lambda: OnCluster(Cluster(spark))


def each(todo: Sequence[Callable[[], T]], master: str | None) -> Iterator[T]:
    """What comes of each, in their order: one after the other here, or as many at once as a cluster can."""
    if master is None:
        yield from (one() for one in todo)
        return
    with place(master) as where:
        cluster = where()
        for result in cluster.each(todo):
            yield result.result()
        cluster.close()
