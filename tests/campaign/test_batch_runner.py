"""The batch runner: results in the order of the cases, errors where they are waited for, and cancellation."""

import threading
from concurrent.futures import Future
from itertools import islice

import pytest

from conformance.campaign.batch_runner import BatchRunner, PendingVerdict, run_with_restarts
from conformance.campaign.plan import Plan
from conformance.codec import digest
from conformance.engine import Description, RunRequest
from conformance.errors import EngineFailed, EngineUnavailable
from conformance.observation import EngineInfo, Observations

CASES = list(islice(Plan(), 6))


def result_of(planned):
    return PendingVerdict(Observations(digest(planned.case), ()), Future())


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_cases(threads):
    first_batch_may_end = threading.Event()

    def run(batch):
        if batch[0] is CASES[0] and threads > 1:
            first_batch_may_end.wait(10)
        yield from map(result_of, batch)
        first_batch_may_end.set()

    with BatchRunner(run, cancel=lambda: None, threads=threads) as runner:
        for first in (0, 2, 4):
            runner.submit(CASES[first : first + 2])
        seen = [runner.next_result().seen.case_digest for _ in CASES]
    assert seen == [digest(planned.case) for planned in CASES]


def test_a_result_does_not_wait_for_the_rest_of_its_batch():
    taken = threading.Event()

    def run(batch):
        yield result_of(batch[0])
        assert taken.wait(10)
        yield result_of(batch[1])

    with BatchRunner(run, cancel=lambda: None) as runner:
        runner.submit(CASES[:2])
        runner.next_result()
        taken.set()
        runner.next_result()


def test_an_error_is_raised_after_the_results_before_it_and_nothing_else_runs():
    ran = []

    def run(batch):
        ran.append(batch)
        yield result_of(batch[0])
        raise EngineUnavailable("gone")

    with BatchRunner(run, cancel=lambda: None) as runner:
        runner.submit(CASES[:2])
        runner.submit(CASES[2:4])
        runner.next_result()
        with pytest.raises(EngineUnavailable, match="gone"):
            runner.next_result()
    assert ran == [CASES[:2]]


def test_a_batch_is_cancelled_if_its_results_were_not_taken():
    cancelled = threading.Event()

    def run(batch):
        assert cancelled.wait(10)
        yield from map(result_of, batch)

    with BatchRunner(run, cancel=cancelled.set) as runner:
        runner.submit(CASES[:1])
    assert cancelled.is_set()


def test_nothing_is_cancelled_if_all_results_were_taken():
    cancelled = threading.Event()
    with BatchRunner(lambda batch: map(result_of, batch), cancel=cancelled.set) as runner:
        runner.submit([])
        runner.submit(CASES[:1])
        runner.next_result()
    assert not cancelled.is_set()


class Failing:
    """An engine that fails on some cases, and if `together`, on several at once."""

    def __init__(self, *failing, together=False):
        self.failing = failing
        self.together = together

    def start(self):
        return description(2)

    def run(self, requests):
        if self.together and len(requests) > 1:
            raise EngineFailed("several at once")
        for request in requests:
            if request.case in self.failing:
                raise EngineFailed("this case")
            yield Observations(digest(request.case), ())


def description(batch):
    return Description(EngineInfo("failing", "1"), batch=batch)


@pytest.mark.parametrize(
    ("engine", "failed"),
    [
        (Failing(CASES[1].case), [False, True, False]),
        (Failing(together=True), [True, False, False]),
        (Failing(CASES[2].case, together=True), [False, False, True]),
    ],
)
def test_a_failed_engine_is_restarted_and_the_case_at_fault_found(engine, failed):
    requests = [RunRequest(planned.case) for planned in CASES[:3]]
    found = list(run_with_restarts(engine, description(2), requests))
    assert [isinstance(answer, EngineFailed) for answer in found] == failed


def test_a_case_that_fails_alone_is_told_before_the_next_one_is_run():
    requests = [RunRequest(planned.case) for planned in CASES]
    engine = Failing(*(request.case for request in requests[1:]), together=True)
    starts = []
    engine.start = lambda: starts.append(1) or description(2)
    found = run_with_restarts(engine, description(2), requests)
    assert [isinstance(answer, EngineFailed) for answer in islice(found, 2)] == [False, True]
    assert len(starts) == 2


def test_an_engine_that_changes_after_a_restart_is_unavailable():
    with pytest.raises(EngineUnavailable, match="describes itself differently"):
        list(run_with_restarts(Failing(CASES[0].case), description(3), [RunRequest(CASES[0].case)]))
