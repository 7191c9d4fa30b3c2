"""The kernels that look at pixels and regions, against plain versions of the same."""

from __future__ import annotations

import imageio.v3 as iio
import numpy as np
import pytest
import reference
from helpers import random_regions
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage
from skimage.color import rgb2lab

from pfeseg import enlarge_labels, kernels, segment
from pfeseg.image.arrays import as_raster
from pfeseg.image.colour import to_lab
from pfeseg.image.pixel_types import KERNEL_TYPES
from pfeseg.image.resize import interpolate
from pfeseg.image.texture import COMPRESSION, DERIVATIVES, FILTER_SCALES, filter_responses
from pfeseg.labels.maps import CORNERS, SIDES, boundary_edges, consecutive, touching
from pfeseg.regions.chance import CHANCE
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.merging import merge_basins

SHAPES = [(30, 41), (1, 17), (13, 1), (1, 1), (2, 3)]
MAPS = hnp.arrays(
    np.int32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 5)
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_lab_equals_that_of_scikit_image(samples):
    photograph = iio.imread(samples / "coffee.jpg")
    greys = np.repeat(np.arange(256, dtype=np.uint8), 3).reshape(1, 256, 3)
    for image in (photograph, greys, greys[:, :1], greys[:, -1:]):
        np.testing.assert_allclose(to_lab(image), rgb2lab(image), atol=2e-4)
        assert to_lab(image).dtype == np.float32


def test_lab_of_any_intensity_equals_that_of_scikit_image(rng):
    image = np.concatenate([rng.random((50, 60, 3)), 0.05 * rng.random((50, 60, 3))])
    np.testing.assert_allclose(to_lab(image), rgb2lab(image), atol=2e-4)
    np.testing.assert_allclose(to_lab(image.astype(np.float32)), rgb2lab(image), atol=3e-4)


def test_bits_and_floats_have_the_same_lab(rng):
    image = rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)
    np.testing.assert_allclose(to_lab(image), to_lab(image / 255), atol=5e-5)


def test_filters_refuse_places_outside_an_image(rng):
    image, bank = rng.random((4, 5), dtype=np.float32), [(np.ones(1), np.ones(3))]
    inside, outside = np.array([3], np.int32), np.array([5], np.int32)
    assert kernels.filter_responses(image, bank, inside, inside, 5.0).shape == (1, 1, 1)
    with pytest.raises(ValueError, match="no such row"):
        kernels.filter_responses(image, bank, outside, inside, 5.0)
    with pytest.raises(ValueError, match="no such column"):
        kernels.filter_responses(image, bank, inside, outside, 5.0)


@pytest.mark.parametrize("shape", [(13, 20), (26, 40), (5, 40)])
def test_filter_responses_equal_those_of_scipy(shape, rng):
    lightness = 100 * rng.random((26, 40))
    rows, columns = (
        ((np.arange(n) + 0.5) * large / n).astype(int)
        for n, large in zip(shape, (26, 40), strict=True)
    )
    plain = np.stack(
        [
            scale ** sum(order)
            * ndimage.gaussian_filter(lightness, scale, order=order)[np.ix_(rows, columns)]
            for scale in FILTER_SCALES
            for order in DERIVATIVES
        ],
        axis=-1,
    )
    norm = np.linalg.norm(plain, axis=-1, keepdims=True)
    expected = plain * np.log1p(norm / COMPRESSION) / (norm + 1e-6)
    found = filter_responses(lightness.astype(np.float32), shape)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("steps", [0, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_floods_take_their_turns(shape, steps, rng):
    relief = rng.normal(size=shape).astype(np.float32)
    if steps:  # many equal heights, both zeros among them
        relief = np.round(relief * steps / 4)
    markers = np.where(rng.random(shape) < 0.1, rng.integers(1, 9, shape), 0).astype(np.int32)
    expected = reference.flood(relief, markers)
    np.testing.assert_array_equal(kernels.watershed(relief, markers - 1) + 1, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (40, 3, 40), (1500, 5, 9), (1030, 11, 4)])
def test_kmeans_takes_the_steps_of_the_plain_version(n, d, k, dtype, rng):
    rows = rng.integers(-8, 9, (n, d)).astype(dtype)  # distances that both precisions hold exactly
    weights = rng.integers(1, 4, n).astype(float)
    for first in (0, n - 1):
        draws = rng.random((k - 1, 3))
        start = kernels.spread_starts(rows, weights, first, draws)
        assert start.tolist() == reference.spread_starts(rows, weights, first, draws)
        labels, distances, centres = kernels.improve_centres(rows, weights, rows[start], 5, 1e-4)
        expected = reference.improve_centres(rows.astype(float), weights, rows[start], 5, 1e-4)
        np.testing.assert_array_equal(labels, expected[0])
        np.testing.assert_allclose(centres, expected[1], rtol=1e-5, atol=1e-5)
        squared = ((rows - centres[labels]) ** 2).sum(axis=1)
        np.testing.assert_allclose(distances, squared, rtol=1e-4, atol=1e-4)


def test_lost_centres_start_at_the_rows_that_fit_worst():
    rows = np.array([[0.0], [1.0], [10.0], [2.0], [7.0]])
    far = np.array([[0.0], [100.0], [200.0]])
    labels, _, centres = kernels.improve_centres(rows, np.ones(5), far, 1, 0.0)
    expected = reference.improve_centres(rows, np.ones(5), far, 1, 0.0)
    np.testing.assert_array_equal(centres, [[4], [10], [7]])
    np.testing.assert_array_equal(labels, expected[0])


@pytest.mark.parametrize(("n", "m", "components"), [(1, 1, 1), (513, 6, 3), (2000, 21, 8)])
def test_expectation_equals_that_of_numpy(n, m, components, rng):
    monomials = rng.normal(size=(m, n))
    coefficients = 8 * rng.normal(size=(components, m))
    joint = coefficients @ monomials
    top = joint.max(axis=0)
    density = np.exp(joint - top)
    posterior, moments, likelihood = kernels.expectation(monomials, coefficients)
    np.testing.assert_allclose(posterior, density / density.sum(axis=0), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(moments, posterior @ monomials.T, atol=1e-10)
    assert likelihood == pytest.approx((top + np.log(density.sum(axis=0))).sum(), rel=1e-13)


@given(hnp.arrays(st.sampled_from([np.int32, np.int64, np.uint8]), st.tuples(st.integers(1, 60))))
def test_labels_are_numbered_as_they_appear(labels):
    seen: dict[int, int] = {}
    expected = [seen.setdefault(label, len(seen)) for label in labels.tolist()]
    assert consecutive(labels).tolist() == expected


def test_very_many_labels_are_numbered(rng):
    labels = rng.permutation(100_000).astype(np.int64) * 1_000_003 - 7
    assert (consecutive(labels.reshape(100, 1000)).ravel() == np.arange(100_000)).all()


@given(MAPS)
def test_meetings_are_all_there_are(labels):
    def pairs_along(dy, dx):
        height, width = labels.shape
        return {
            tuple(sorted((labels[y, x].item(), labels[y + dy, x + dx].item())))
            for y in range(height - dy)
            for x in range(max(-dx, 0), width - max(dx, 0))
            if labels[y, x] != labels[y + dy, x + dx]
        }

    for steps in (SIDES, SIDES + CORNERS):
        expected = set().union(*(pairs_along(*step) for step in steps))
        assert [tuple(pair) for pair in touching(labels, steps).tolist()] == sorted(expected)
    pairs, edges, lengths = boundary_edges(labels)
    ends = [
        np.stack([labels[:, :-1], labels[:, 1:]], axis=-1).reshape(-1, 2),
        np.stack([labels[:-1], labels[1:]], axis=-1).reshape(-1, 2),
    ]
    sorted_ends = np.sort(np.concatenate(ends), axis=1)
    differ = sorted_ends[:, 0] != sorted_ends[:, 1]
    np.testing.assert_array_equal(edges[:, 0], np.flatnonzero(differ))
    np.testing.assert_array_equal(pairs[edges[:, 1]], sorted_ends[differ])
    np.testing.assert_array_equal(lengths, np.bincount(edges[:, 1], minlength=len(pairs)))


@pytest.mark.parametrize("small", [(7, 9), (30, 41), (1, 1), (1, 5)])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_over_regions_equal_those_of_numpy(shape, small, rng):
    regions = rng.integers(0, 6, shape).astype(np.int32)
    values = rng.normal(size=(*small, 3))
    large = interpolate(values, shape)
    expected = np.stack([np.bincount(regions.ravel(), large[..., c].ravel(), 6) for c in range(3)])
    found = kernels.region_sums(regions, 6, values)
    np.testing.assert_allclose(found, expected.T, atol=1e-10)
    single = kernels.region_sums(regions, 6, values.astype(np.float32))
    np.testing.assert_allclose(single, expected.T, atol=1e-3)
    classes = rng.integers(0, 4, small).astype(np.int32)
    keys = regions * 4 + enlarge_labels(classes, shape)
    counts = np.bincount(keys.ravel(), minlength=24).reshape(6, 4)
    np.testing.assert_array_equal(kernels.class_counts(regions, 6, classes, 4), counts)


@pytest.mark.parametrize("stretch", ["auto", "minmax", "10:80"])
@pytest.mark.parametrize("dtype", KERNEL_TYPES)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_colours_are_summed_as_if_the_whole_image_were_lab(shape, channels, dtype, stretch, rng):
    values = rng.random((*shape, channels))
    whole = np.issubdtype(dtype, np.integer)
    image = (values * np.iinfo(dtype).max if whole else values).astype(dtype)
    raster = as_raster(image, stretch)
    regions = rng.integers(0, 6, shape).astype(np.int32)
    lab = to_lab(raster.rgb())
    expected = np.stack([np.bincount(regions.ravel(), lab[..., c].ravel(), 6) for c in range(3)])
    found = kernels.lab_sums(regions, 6, raster.values, raster.black, raster.white)
    np.testing.assert_array_equal(found, expected.T)
    np.testing.assert_array_equal(kernels.region_sums(regions, 6, lab), expected.T)


def test_sums_along_edges_are_those_of_the_edges_named(rng):
    right, down = (rng.random(shape, dtype=np.float32) for shape in ((5, 3), (4, 4)))
    edges = np.stack([rng.permutation(31)[:20], rng.integers(0, 6, 20)], axis=1).astype(np.int32)
    values = np.concatenate([right.ravel(), down.ravel()]).astype(float)
    expected = np.bincount(edges[:, 1], values[edges[:, 0]], 6)
    np.testing.assert_allclose(kernels.edge_sums(edges, 6, right, down), expected, rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_interpolation_equals_that_of_numpy(shape, rng):
    values = rng.normal(size=(*shape, 2))
    y, x = rng.uniform(-2, shape[0] + 2, 11), rng.uniform(-2, shape[1] + 2, 8)
    expected = reference.bilinear(values, y, x)
    np.testing.assert_allclose(kernels.interpolate(values, y, x), expected, atol=1e-12)


def content_of(tree: Hierarchy, names: np.ndarray) -> list[tuple[float, frozenset]]:
    content = {k: frozenset([name]) for k, name in enumerate(names.tolist())}
    made = []
    for (kept, absorbed), level in zip(tree.merges.tolist(), tree.levels, strict=True):
        content[kept] |= content.pop(absorbed)
        made.append((level, content[kept]))
    return made


@pytest.mark.parametrize("seed", range(4))
def test_a_hierarchy_on_another_base_is_that_of_plain_steps(seed):
    rng = np.random.default_rng(seed)
    base, graph = random_regions(rng)
    tree = merge_basins(base, graph, CHANCE)
    other = base[rng.permutation(len(base))][::2]  # other neighbours, and some regions gone
    resized = tree.resized(np.ascontiguousarray(other))
    names = other.ravel()[np.unique(resized.base, return_index=True)[1]]
    assert content_of(resized, names) == reference.resize_hierarchy(tree, other)
    assert tree.resized(base) is tree


def test_kernels_refuse_what_does_not_exist():
    regions = np.array([[0, 2]], np.int32)
    with pytest.raises(ValueError, match="does not exist"):
        kernels.region_sums(regions, 2, np.zeros((1, 2, 1)))
    with pytest.raises(ValueError, match="does not exist"):
        kernels.class_counts(regions, 2, np.zeros((1, 2), np.int32), 1)
    with pytest.raises(ValueError, match="does not exist"):
        kernels.lab_sums(regions, 2, np.zeros((1, 2, 1)), 0.0, 1.0)
    with pytest.raises(ValueError, match="one shape"):
        kernels.lab_sums(regions, 3, np.zeros((2, 1, 1)), 0.0, 1.0)
    with pytest.raises(ValueError, match="one channel or three"):
        kernels.lab_sums(regions, 3, np.zeros((1, 2, 2)), 0.0, 1.0)
    with pytest.raises(ValueError, match="must be -1"):
        kernels.watershed(np.zeros((1, 2), np.float32), regions - 2)
    with pytest.raises(ValueError, match="no such class"):
        kernels.class_counts(regions, 3, regions, 2)
    one, none = np.zeros((1, 1), np.float32), np.zeros((0, 2), np.float32)
    with pytest.raises(ValueError, match="no such edge"):
        kernels.edge_sums(np.array([[1, 0]], np.int32), 1, one, none)
    with pytest.raises(ValueError, match="out of range"):
        kernels.edge_sums(np.array([[0, 1]], np.int32), 1, one, none)
    with pytest.raises(ValueError, match="does not exist"):
        kernels.join_pairs(regions, 2)
    with pytest.raises(ValueError, match="no such row"):
        kernels.spread_starts(np.zeros((2, 1)), np.ones(2), 2, np.zeros((1, 1)))
    merges, first, second = (np.array(part, np.int32) for part in ([[0, 1], [1, 2]], [0], [2]))
    with pytest.raises(ValueError, match="after it was absorbed"):
        kernels.joining_merges(merges, first, second)


def test_all_variants_give_the_same_bytes(chelsea, rng, monkeypatch):
    if kernels.best_variant() == "baseline":
        pytest.skip("this processor has no AVX2: there is one variant only")
    rows, image = rng.random((3001, 5), dtype=np.float32), rng.random((37, 45, 13), np.float32)
    classes = rng.integers(0, 13, (37, 45)).astype(np.int32)
    monomials, coefficients = rng.normal(size=(21, 1111)), rng.normal(size=(8, 21))
    results = []
    for name in ("baseline", kernels.best_variant()):
        monkeypatch.setenv("PFESEG_KERNELS", name)
        found = [
            kernels.lab(chelsea),
            kernels.correlate(image, np.ones(1), np.linspace(-1, 1, 13)),
            kernels.correlate(image.astype(float), np.linspace(0, 1, 9), np.linspace(0, 1, 5)),
            *kernels.class_contrast(classes, 13, np.linspace(0, 1, 5), 5),
            *kernels.colour_contrast(image, 1, 13, np.linspace(0, 1, 5), 3),
            *kernels.improve_centres(rows, np.ones(3001), rows[:17], 10, 0.0),
            *kernels.expectation(monomials, coefficients)[:2],
        ]
        results.append([array.tobytes() for array in found])
    assert results[0] == results[1]


def test_one_pixel_wide_images_are_segmented():
    for shape in ((1, 40, 3), (40, 1, 3), (2, 4, 3)):
        assert segment(np.full(shape, 90, np.uint8)).n_regions == 1
