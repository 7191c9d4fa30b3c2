from __future__ import annotations

import os
from dataclasses import astuple
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat
from scipy.ndimage import label as connected

from pfeseg import InvalidInputError, score
from pfeseg.labels.metrics import compare, summarise

RNG = np.random.default_rng(7)
maps = st.tuples(st.integers(1, 6), st.integers(0, 2**31)).map(
    lambda t: np.random.default_rng(t[1]).integers(0, t[0], (5, 6))
)


def by_definition(labels: np.ndarray, truths: list[np.ndarray]) -> tuple[float, float, float]:
    covered, pixels, pri, vi = 0.0, 0, [], []
    pairs = list(combinations(range(labels.size), 2))
    s = labels.ravel()
    for truth in truths:
        g = truth.ravel()
        for region in np.unique(g):
            inside = g == region
            overlaps = [(inside & (s == r)).sum() / (inside | (s == r)).sum() for r in np.unique(s)]
            covered += inside.sum() * max(overlaps)
            pixels += inside.sum()
        pri.append(np.mean([(s[i] == s[j]) == (g[i] == g[j]) for i, j in pairs]))
        joint = np.unique(np.stack([s, g]), axis=1, return_counts=True)[1] / s.size

        def entropy(p):
            return -(p * np.log2(p)).sum()

        h_s, h_g = (entropy(np.unique(v, return_counts=True)[1] / v.size) for v in (s, g))
        vi.append(2 * entropy(joint) - h_s - h_g)
    return covered / pixels, float(np.mean(pri)), float(np.mean(vi))


@settings(max_examples=30, deadline=None)
@given(labels=maps, truth=maps, other=maps)
def test_scores_follow_the_definitions(labels, truth, other):
    found = score(labels, [truth, other])
    exact = by_definition(labels, [truth, other])
    np.testing.assert_allclose((found.covering, found.pri, found.vi), exact, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(labels=maps, truth=maps, seed=st.integers(0, 2**31))
def test_names_of_labels_do_not_matter(labels, truth, seed):
    names = np.random.default_rng(seed).permutation(1000) * 10**9
    renamed, plain = score(names[labels], [truth - 50]), score(labels, [truth])
    assert astuple(renamed) == pytest.approx(astuple(plain), abs=1e-12)


def test_a_table_by_hand():
    labels = np.array([[0, 0, 1, 1]])
    truth = np.array([[0, 0, 0, 1]])
    found = score(labels, [truth])
    assert found.covering == pytest.approx((3 * 2 / 3 + 1 * 1 / 2) / 4)
    assert found.pri == pytest.approx(3 / 6)
    assert found.vi == pytest.approx(2 * 1.5 - 1 - 0.8112781245)


def test_perfect_and_single_region():
    truth = RNG.integers(0, 4, (20, 30))
    perfect = score(truth, [truth])
    assert (perfect.covering, perfect.pri, perfect.vi) == (1, 1, 0)
    whole = score(np.zeros((20, 30), int), [truth])
    sizes = np.bincount(truth.ravel())
    assert whole.covering == pytest.approx((sizes**2).sum() / truth.size**2)


@pytest.mark.parametrize(
    ("labels", "truths", "message"),
    [
        (np.zeros((3, 4), int), [np.zeros((4, 3), int)], "cannot be compared"),
        (np.zeros((3, 4)), [np.zeros((3, 4), int)], "integer array"),
        (np.zeros((3, 4), int), [], "at least one ground truth"),
        (np.zeros((0, 4), int), [np.zeros((0, 4), int)], "integer array"),
    ],
)
def test_wrong_input_never_gives_a_score(labels, truths, message):
    with pytest.raises(InvalidInputError, match=message):
        score(labels, truths)


def test_settings_must_match_over_the_data_set():
    one = compare(np.zeros((2, 2), int), [np.zeros((2, 2), int)])
    with pytest.raises(InvalidInputError, match="same settings"):
        summarise([[one], [one, one]])


def golden() -> Path:
    """Find the folder of the official program's output, kept beside the data set."""
    root = os.environ.get("BSDS500_ROOT")
    folder = Path(root).parent / "bsds-golden" if root else None
    if folder is None or not folder.is_dir():
        pytest.skip("set BSDS500_ROOT to a folder beside which bsds-golden lies")
    return folder


def truths_of(path: Path) -> list[np.ndarray]:
    return [cell[0, 0]["Segmentation"] for cell in loadmat(path)["groundTruth"][0]]


def from_segs(path: Path) -> list[np.ndarray]:
    return list(loadmat(path)["segs"][0])


def from_ucm2(path: Path) -> list[np.ndarray]:
    ucm2 = loadmat(path)["ucm2"]
    levels = np.arange(1, 6) / 6
    return [connected(ucm2 <= level, np.ones((3, 3)))[0][1::2, 1::2] for level in levels]


@pytest.mark.parametrize(
    ("kind", "segmentations", "folder"),
    [("segs", from_segs, "test_5"), ("ucm2", from_ucm2, "test_1")],
)
def test_the_official_program_is_reproduced(kind, segmentations, folder):
    base = golden()
    images = []
    for path in sorted((base / kind).glob("*.mat"), key=lambda p: int(p.stem)):
        truths = truths_of(base / "groundTruth" / path.name)
        images.append([compare(labels, truths) for labels in segmentations(path)])
    found = summarise(images)
    _, *cover = np.loadtxt(base / folder / "eval_cover.txt")
    _, pri_ods, pri_ois, _, vi_ods, vi_ois = np.loadtxt(base / folder / "eval_RI_VOI.txt")
    ours = found.ods.covering, found.ois.covering, found.best_covering
    np.testing.assert_allclose(ours, cover, atol=1e-5)
    rand = found.ods.pri, found.ois.pri, found.ods.vi, found.ois.vi
    np.testing.assert_allclose(rand, (pri_ods, pri_ois, vi_ods, vi_ois), atol=1e-5)
