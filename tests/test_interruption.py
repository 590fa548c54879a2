"""Ctrl-C and SIGTERM, deferred to safe points."""

import queue
import signal
import threading
from concurrent.futures import Future

import pytest

from conformance import interruption
from conformance.campaign.executor import LocalExecutor
from conformance.interruption import SIGNALS, Interruption, deferred_interruption, next_item, result_of


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_takes_effect_once_and_at_a_safe_point(number):
    with deferred_interruption() as interrupted:
        signal.raise_signal(number)
        assert interrupted.is_requested
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
        interruption.check()
        signal.raise_signal(number)
        interruption.check()


@pytest.mark.parametrize("wait", [lambda: next_item(queue.SimpleQueue()), lambda: result_of(Future())])
def test_a_signal_ends_a_wait(wait):
    with deferred_interruption():
        main = threading.main_thread().ident
        threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            wait()


def test_an_error_of_a_future_is_raised_and_no_end_of_the_wait():
    failed = Future()
    failed.set_exception(TimeoutError("its own"))
    with deferred_interruption(), pytest.raises(TimeoutError, match="its own"):
        result_of(failed)


def test_a_second_signal_raises_at_once_if_there_was_no_safe_point_for_long(monkeypatch):
    monkeypatch.setattr(interruption, "PATIENCE_SECONDS", 0.0)
    interrupted = Interruption()
    interrupted.handle_signal(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        interrupted.handle_signal(signal.SIGINT, None)
    interrupted.handle_signal(signal.SIGINT, None)


def test_two_signals_at_once_are_one():
    with deferred_interruption():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)


def test_the_former_handlers_are_restored():
    before = [signal.getsignal(number) for number in SIGNALS]
    with deferred_interruption():
        pass
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_other_threads_are_not_interrupted():
    with deferred_interruption() as interrupted:
        signal.raise_signal(signal.SIGINT)
        thread = threading.Thread(target=interruption.check)
        thread.start()
        thread.join()
        assert not interrupted.is_raised


def test_signals_of_the_terminal_do_not_reach_processes_that_judge():
    executor = LocalExecutor(1)
    try:
        assert set(SIGNALS) <= executor.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()
    finally:
        executor.close()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
