"""Ctrl-C while modules are imported is heard afterwards, and breaks none of them."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from floorflow.importing import whole_imports
from tests.plans import TFC

AFTER_A_FIRST = """
import signal, sys, floorflow as ff
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
try:
    ff.plan(sys.argv[1], "pynq-z1", effort="fast", plots=False)
except KeyboardInterrupt:
    print("interrupted")
signal.setitimer(signal.ITIMER_REAL, 0)
print(ff.plan(sys.argv[1], "pynq-z1", effort="fast", plots=False).summary["fpgas"])
"""


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard() -> Iterator[None]:
    """Handle Ctrl-C as Python does: a shell without job control starts what runs behind it deaf, as in ``cmd &``."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_where_ctrl_c_is_ignored_it_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with whole_imports():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_ctrl_c_is_heard_at_the_end() -> None:
    done = []

    def work() -> None:
        with whole_imports():
            signal.raise_signal(signal.SIGINT)
            done.append("imported")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["imported"]


def test_an_error_inside_goes_before_it_and_the_handler_is_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)

    def work() -> None:
        with whole_imports():
            signal.raise_signal(signal.SIGINT)
            raise ImportError

    with pytest.raises(ImportError):
        work()
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_import_as_ever() -> None:
    done = []

    def work() -> None:
        with whole_imports():
            done.append("imported")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["imported"]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.15, 0.3, 0.5])
def test_a_plan_can_be_made_after_one_that_was_interrupted_early(seconds: float) -> None:
    words = [sys.executable, "-c", AFTER_A_FIRST, str(TFC), str(seconds)]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told.stdout.split()[-1] == "1", told.stderr
