"""What fuzzing found, kept; and the fuzzers themselves, for a moment."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from helpers import ROOT

from pfeseg import kernels

UNDER_ASAN = "asan" in os.environ.get("LD_PRELOAD", "")
INT = np.int32
PATH = np.array([[0, 1], [1, 2]], INT)
IMAGE = np.ones((4, 5, 3), np.float32)
ZEROS = np.zeros((4, 5), INT)


def loop(start: bool = True):
    elimination = kernels.eliminate_graph(PATH, np.zeros((3, 0), INT), 100)
    made = kernels.CholeskyLoopDouble(elimination, np.ones(2), np.ones(3), 1.0, 1.0, 1,
                                      kernels.variant())  # fmt: skip
    if start:
        made.start(np.ones((3, 2)), 1)
    return made


def pcg(indptr, indices, data=(2.0, 2.0), degrees=(1.0, 1.0)):
    arrays = np.array(indptr, INT), np.array(indices, INT), np.array(data)
    return kernels.PcgLoopDouble(*arrays, np.ones(0), np.array(degrees), 1.0, 1.0, 0.0, 0.1, 9,
                                 kernels.variant())  # fmt: skip


def factor(indptr, indices, data):
    return kernels.incomplete_cholesky(np.array(indptr, INT), np.array(indices, INT),
                                       np.array(data, float), 0.0)  # fmt: skip


def merge(pairs, **changed):
    n, m = 3, len(pairs)
    given = {
        "areas": np.ones(n), "sums": np.ones((n, 1)), "ends": np.array([1], INT),
        "comparisons": np.zeros(1, INT), "pairs": np.array(pairs, INT), "lengths": np.ones(m),
        "contrasts": np.ones((m, 0)), "plain": np.ones(3), "root": np.ones(3), "cap": np.ones(3),
    } | changed  # fmt: skip
    return kernels.merge_regions(*given.values(), 1.0, 1.0, 0.0, 0.1, 1.0, 0.1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: loop().advance(1, -5),
        lambda: loop().advance(1, 0),
        lambda: loop().advance(-1, 1),
        lambda: loop(start=False).advance(1, 1),
        lambda: loop().start(np.ones((3, 2)), 0),
        lambda: pcg([0, 1, 5], [0, 1]),
        lambda: pcg([0, 2, 1], [0, 1]),
        lambda: pcg([0, 1, 2], [0, 9]),
        lambda: pcg([0, 1, 2], [0, 1], degrees=np.ones(50)),
        lambda: pcg([0, 1, 2], [0, 1], data=(2.0,)),
        lambda: factor([], [], []),
        lambda: factor([0, 2], [0, -1], [1, 1]),
        lambda: factor([0, 2, 3], [1, 0, 1], [1, 1, 1]),
        lambda: factor([0, 10**9], [0], [1]),
        lambda: kernels.eliminate_graph(np.array([[1, 1]], INT), np.zeros((3, 0), INT), 100),
        lambda: kernels.eliminate_graph(np.array([[0, 3]], INT), np.zeros((3, 0), INT), 100),
        lambda: kernels.eliminate_graph(PATH, np.full((3, 2), 2**31 - 1, INT), 100),
        lambda: kernels.eliminate_graph(np.zeros((0, 2), INT), np.zeros((0, 2), INT), 100),
        lambda: merge([[1, 1]]),
        lambda: merge([[0, 1], [0, 1]]),
        lambda: merge([[0, 1], [1, 0]]),
        lambda: merge([[0, 1]], areas=np.zeros(3)),
        lambda: merge([[0, 1]], ends=np.array([2], INT)),
        lambda: kernels.region_sums(ZEROS, -1, IMAGE),
        lambda: kernels.class_counts(ZEROS, 1, ZEROS, -1),
        lambda: kernels.edge_sums(np.zeros((1, 2), INT), -1, IMAGE[..., 0], IMAGE[..., 0]),
        lambda: kernels.class_contrast(ZEROS, -1, np.ones(3), 3),
        lambda: kernels.colour_contrast(IMAGE, 0, 3, np.ones(3), 2**31 - 1),
        lambda: kernels.meetings(ZEROS - 1, np.array([[0, 1]], INT)),
        lambda: kernels.match_boundaries(*[np.ones((4, 5), np.uint8)] * 2,
                                         np.array([[2**31 - 1, 0]], INT)),
        lambda: kernels.average_areas(IMAGE, np.nan, 1.0, 2, 2, 1),
        lambda: kernels.average_areas(IMAGE.astype(np.uint8), 0.0, 1e300, 2, 2, 1),
        lambda: kernels.lab_sums(ZEROS, -1, IMAGE, 0.0, 1.0),
        lambda: kernels.join_pairs(PATH, -1),
        lambda: kernels.improve_centres(np.ones((3, 2)), np.ones(3), np.ones((2, 2)), 2**31 - 1,
                                        np.nan),
        lambda: kernels.filter_rows(np.ones((3, 2000), np.uint8), 2**64 - 100_000),
        lambda: kernels.nearest_centres(IMAGE[0], np.ones((2**24 + 4, 3), np.float32)),
        lambda: kernels.eliminate_graph(PATH, np.zeros((3, 100_000), INT), 100),
        lambda: kernels.gram_matrix(np.zeros((1, 2**15 + 1)), None, 1),
        lambda: kernels.gram_matrix(np.zeros((0, 2**32 + 5)), None, 1),
        lambda: kernels.average_areas(IMAGE, 0.0, 1.0, 2, 2, 0),
        lambda: kernels.redraw_boundaries(ZEROS, IMAGE, 0.0, 1.0, 1, *[np.ones(3, np.float32)] * 2,
                                          0),
        lambda: pcg([0, 1, 2], [0, 1]).start(np.zeros((2, 2**24 + 1), np.float32), 1),
    ],
)  # fmt: skip
def test_kernels_refuse_at_their_door_what_would_leave_an_array(call):
    with pytest.raises(ValueError, match=r"\w{3}"):
        call()


LONG = 2**40


@pytest.mark.parametrize(
    "call",
    [
        lambda: kernels.expectation(np.zeros((0, 2**24)), np.zeros((LONG, 0))),
        lambda: kernels.spread_starts(np.ones((2, 1)), np.ones(2), 0, np.zeros((LONG, 0))),
        lambda: kernels.average_areas(np.zeros((LONG, 1, 0)), 0.0, 1.0, LONG, 1, 1),
        lambda: kernels.colour_contrast(np.zeros((LONG, 1, 0), np.float32), 0, 0, np.ones(1), 1),
        lambda: kernels.split_regions(np.zeros((LONG, 0), INT)),
        lambda: kernels.meetings(np.zeros((LONG, 0), INT), np.array([[0, 1]], INT)),
        lambda: kernels.region_sums(np.zeros((LONG, 0), INT), 1, IMAGE),
        lambda: kernels.class_counts(np.zeros((LONG, 0), INT), 1, ZEROS, 1),
        lambda: kernels.lab_sums(np.zeros((LONG, 0), INT), 1, np.zeros((LONG, 0, 3)), 0.0, 1.0),
        lambda: kernels.gram_matrix(np.zeros((LONG, 0)), None, 1),
    ],
)  # fmt: skip
def test_arrays_without_numbers_are_refused_where_a_side_is_endless(call):
    """They took all memory, or years."""
    with pytest.raises(ValueError, match=r"\w{3}"):
        call()


def test_sizes_whose_product_begins_again_at_zero_are_refused():
    places, one, rows = np.zeros(2**22), np.ones(1), np.zeros(2**24, INT)
    with pytest.raises(MemoryError):
        kernels.interpolate(np.zeros((1, 1, 2**20)), places, places)
    with pytest.raises(MemoryError):
        kernels.filter_responses(IMAGE[..., 0].copy(), [(one, one)] * 2**16, rows, rows, 1.0)


@pytest.mark.skipif(UNDER_ASAN, reason="which marks all of a large array")
def test_a_label_of_many_has_its_own_tint():
    """Three times its number has more than 32 bits."""
    try:
        tints = np.zeros((2**30, 3), np.float32)
    except MemoryError:
        pytest.skip("this machine promises no more memory than it has")
    tints[-1] = 7
    drawn = kernels.tint_regions(np.zeros((1, 1, 1), np.uint8), 0.0, 255.0, 0.5,
                                 np.full((1, 1), 2**30 - 1, INT), tints,
                                 np.zeros((1, 1), np.uint8))  # fmt: skip
    assert drawn.tolist() == [[[7, 7, 7]]]


@pytest.mark.parametrize("made", [loop, lambda: pcg([0, 1, 2], [0, 1])])
def test_a_loop_serves_one_thread_at_a_time(made):
    """Another one could take away the arrays on which it works."""
    busy = made()
    rows = len(busy.solution())
    busy.start(np.ones((rows, 2)), 1)
    thread = threading.Thread(target=busy.advance, args=(2_000_000, 1))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            busy.start(np.ones((rows, 9)), 1)
            time.sleep(0.01)  # the thread was not there yet
        except RuntimeError as error:
            refused += "in use" in str(error)
            time.sleep(0.01)
    thread.join()
    assert refused
    assert busy.advance(1, 1)[0].shape[0] == 1


@pytest.mark.parametrize("made", [loop, lambda: pcg([0, 1, 2], [0, 1])])
def test_a_loop_that_starts_anew_knows_nothing_of_the_one_before(made):
    again = made()
    F = np.ones((len(again.solution()), 2))
    again.start(F, 1)
    again.advance(3, 1)
    assert again.solution().any()
    again.start(F, 1)
    assert not again.solution().any()


START_WITHOUT_MEMORY = """
import resource
import numpy as np
from pfeseg import kernels
resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
edges = np.array([[0, 1], [1, 2]], np.int32)
elimination = kernels.eliminate_graph(edges, np.zeros((3, 0), np.int32), 100)
loop = kernels.CholeskyLoopDouble(elimination, np.ones(2), np.ones(3), 1.0, 1.0, 1,
                                  kernels.variant())
loop.start(np.ones((3, 2)), 1)
for call in (lambda: loop.start(np.ones((3, 2**20)), 1), lambda: loop.advance(1, 1)):
    try:
        call()
    except (MemoryError, ValueError) as error:
        print(type(error).__name__)
print(loop.solution().size)
"""


@pytest.mark.skipif(UNDER_ASAN, reason="ends if memory is short")
def test_a_loop_without_memory_to_start_has_not_started(tmp_path):
    """It went on with a part of its columns, and with a target that was gone."""
    command = [sys.executable, "-c", START_WITHOUT_MEMORY]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == ["MemoryError", "ValueError", "0"], done.stderr[-3000:]


def test_labels_far_apart_are_numbered_as_fast_as_others():
    def seconds(labels: np.ndarray) -> float:
        began = time.perf_counter()
        numbers = kernels.number_by_appearance(labels)
        took = time.perf_counter() - began
        np.testing.assert_array_equal(numbers, near)
        return took

    near = np.tile(np.arange(2**14, dtype=np.int32), 10)
    near_took = min(seconds(near) for _ in range(3))
    for shift in (16, 32, 40, 48):  # it took 100 times as long
        assert seconds(near.astype(np.int64) << shift) < 30 * near_took + 0.1


def test_numbers_that_are_none_lead_nowhere():
    odd = np.full((2, 2, 3), np.nan, np.float32)
    assert kernels.lab(odd)[..., 0].tolist() == [[0, 0], [0, 0]]
    places = np.array([np.nan, np.inf, -np.inf])
    found = kernels.interpolate(np.arange(4.0).reshape(4, 1, 1), places, np.zeros(1))
    assert found.ravel().tolist() == [0, 3, 0]
    tints, marks = np.full((1, 3), np.inf, np.float32), np.zeros((2, 2), np.uint8)
    drawn = kernels.tint_regions(odd, 0.0, 1.0, 1.0, ZEROS[:2, :2].copy(), tints, marks)
    assert set(drawn.ravel().tolist()) <= {0, 255}


def test_the_most_threads_share_columns_too():
    """As the sanitizers see: the share of each was an overflow."""
    most = pcg([0, 1, 2], [0, 1])
    most.start(np.ones((2, 3)), 2**31 - 1)
    most.advance(1, 2**31 - 1)
    one = pcg([0, 1, 2], [0, 1])
    one.start(np.ones((2, 3)), 1)
    one.advance(1, 1)
    np.testing.assert_array_equal(most.solution(), one.solution())


CALL_AND_COUNT = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import numpy as np
import kernels as fuzzer
from running import MEMORY
from pfeseg import _kernels, kernels

if "libasan" not in Path("/proc/self/maps").read_text():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

def counted(name, call):
    def wrapper(*args):
        result = call(*args)
        returned.add(name)
        return result
    return wrapper

returned = set()
for name in vars(_kernels).keys() & set(kernels.__all__):
    setattr(kernels, name, counted(name, getattr(_kernels, name)))
for attempt in fuzzer.TARGETS.values():
    for seed in range(400):
        attempt(np.random.default_rng(seed), Path())
print(*returned)
"""


@pytest.mark.skipif(UNDER_ASAN, reason="ends if memory is short")
def test_the_fuzzer_calls_every_kernel(tmp_path):
    stub = ast.parse((ROOT / "pfeseg" / "_kernels.pyi").read_text()).body
    kinds = (ast.FunctionDef, ast.ClassDef)
    all_ = {entry.name for entry in stub if isinstance(entry, kinds) and entry.name[0] != "_"}
    command = [sys.executable, "-c", CALL_AND_COUNT, str(ROOT / "fuzz")]
    # Elsewhere, as the folder of the sources would be taken for what is installed.
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    made_by_another = {"Elimination"}
    assert set(done.stdout.split()) == all_ - made_by_another  # each has returned, not refused


@pytest.mark.parametrize(("script", "targets"), [("readers", []), ("kernels", ["trees"])])
def test_the_fuzzers_run(script, targets, tmp_path):
    """All readers, so that each target is known to call what there is."""
    command = [sys.executable, str(ROOT / "fuzz" / f"{script}.py"), "0.2", "7", *targets]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"^0 of \d+ targets did harm", done.stdout, re.MULTILINE)
