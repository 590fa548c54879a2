"""The executor that `--on` names. Its modules are imported only when they are needed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from conformance.campaign.executor import Executor

T = TypeVar("T")


@contextmanager
def executors(master: str | None) -> Iterator[Callable[[], "Executor"]]:
    """Provide a function that makes executors: local or, if a Spark master is given, on its cluster."""
    if master is None:
        from conformance.campaign.executor import LocalExecutor  # noqa: PLC0415

        yield LocalExecutor
        return
    from conformance.pipeline.cluster import session  # noqa: PLC0415
    from conformance.pipeline.executor import ClusterExecutor  # noqa: PLC0415

    with session(master) as spark:
        yield lambda: ClusterExecutor(spark)


def run_all(calls: Sequence[Callable[[], T]], master: str | None) -> Iterator[T]:
    """Yield the result of each call, in their order: one after the other in this process, or at once on a cluster."""
    if master is None:
        yield from (call() for call in calls)
        return
    with executors(master) as make_executor:
        executor = make_executor()
        for result in executor.submit_all(calls):
            yield result.result()
        executor.close()
