from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import SAMPLES

from pfeseg import Graph

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As in the background of a shell; processes that tests start, and interrupt, would not end.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ORACLE = Path(__file__).parent / "oracle"
ORACLE_CASES = ("hard_labels", "soft_labels", "early_stop")


@pytest.fixture(scope="session")
def samples() -> Path:
    return SAMPLES


@pytest.fixture(scope="session")
def chelsea() -> np.ndarray:
    return iio.imread(SAMPLES / "chelsea.jpg")


@pytest.fixture(scope="session", params=ORACLE_CASES)
def oracle(request) -> SimpleNamespace:
    """Input and output of the original PFE authors' own solver."""
    case = SimpleNamespace(name=request.param, **np.load(ORACLE / f"{request.param}.npz"))
    case.graph = Graph.from_edges(len(case.Y0), case.edges, case.w)
    case.caps = {"soc_iterations": 5, "split_iterations": 8, "relaxed_iterations": 40}
    return case
