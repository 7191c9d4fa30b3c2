from __future__ import annotations

import dataclasses
import itertools

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import random_regions, run, same_partition
from scipy.io import loadmat
from scipy.ndimage import gaussian_filter

from pfeseg import (
    Clusters,
    InvalidInputError,
    Level,
    Regions,
    Settings,
    downsample,
    kernels,
    score,
    segment,
)
from pfeseg.files.labels import read_labels
from pfeseg.files.matlab import UCM_THRESHOLDS, cut_contour_map, read_segmentations
from pfeseg.image.arrays import as_raster
from pfeseg.image.detail import look_closely
from pfeseg.image.smoothing import gaussian
from pfeseg.labels.maps import split_regions, touching
from pfeseg.regions.appearance import describe
from pfeseg.regions.chance import CHANCE
from pfeseg.regions.clean import splinter_pixels
from pfeseg.regions.cues import CUES, contrasts, enlarge_edges
from pfeseg.regions.graph import EMBEDDING_STEP, RegionGraph
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.levels import to_levels, to_log_odds
from pfeseg.regions.merging import COARSE_WEIGHT, SPECK, TYPICAL, merge_basins


@pytest.fixture(scope="module")
def tree(chelsea) -> Hierarchy:
    return segment(chelsea).hierarchy


def edge_contrast_by_hand(image, reach, chi_square):
    """Compare the two sides of edges as `pfeseg.regions.cues` says, one edge at a time."""
    height, width, _ = image.shape

    def pixel(y, x):
        return image[min(max(y, 0), height - 1), min(max(x, 0), width - 1)]

    def distance(p, q):
        if chi_square:
            return 0.5 * ((p - q) ** 2 / (p + q + 1e-6)).sum()
        return np.sqrt(((p - q) ** 2).sum())

    diagonal = reach / 2 / np.sqrt(2)
    along, across = int(np.ceil(diagonal)), int(np.floor(diagonal + 0.5))
    steps = [((reach + 1) // 2, 0), (along, across), (along, -across)]
    right = [
        [
            max(distance(pixel(y - b, x - a + 1), pixel(y + b, x + a)) for a, b in steps)
            for x in range(width - 1)
        ]
        for y in range(height)
    ]
    down = [
        [
            max(distance(pixel(y - a + 1, x - b), pixel(y + a, x + b)) for a, b in steps)
            for x in range(width)
        ]
        for y in range(height - 1)
    ]
    return np.array(right), np.array(down)


@pytest.mark.parametrize("reach", [1, 3, 5, 11])
def test_contrast_equals_that_of_plain_loops(reach):
    image = np.random.default_rng(reach).random((9, 13, 11), dtype=np.float32)
    for fast, exact in zip(
        kernels.colour_contrast(image, 0, 11, np.ones(1), reach),
        edge_contrast_by_hand(image.astype(float), reach, chi_square=False),
        strict=True,
    ):
        np.testing.assert_allclose(fast, exact, rtol=2e-5)


@pytest.mark.parametrize("reach", [1, 3, 5, 11, 21])
@pytest.mark.parametrize("shape", [(20, 30), (3, 700), (300, 2), (1, 5), (40, 1)])
def test_contrast_of_smoothed_images_is_that_of_the_plain_steps(shape, reach):
    """Strips and rows that are kept for a while only change nothing."""
    rng = np.random.default_rng(reach)
    window = gaussian(0.3 * reach, 0, truncate=3)
    image = rng.random((*shape, 3), dtype=np.float32)
    classes = rng.integers(0, 5, shape).astype(np.int32)
    smoothed, histograms = (
        gaussian_filter(plain, (0.3 * reach, 0.3 * reach, 0), truncate=3)
        for plain in (image[..., 1:].astype(float), np.eye(5)[classes])
    )
    for found, plain in (
        (
            kernels.colour_contrast(image, 1, 3, window, reach),
            edge_contrast_by_hand(smoothed, reach, chi_square=False),
        ),
        (
            kernels.class_contrast(classes, 5, window, reach),
            edge_contrast_by_hand(histograms, reach, chi_square=True),
        ),
    ):
        for fast, exact in zip(found, plain, strict=True):
            np.testing.assert_allclose(fast, exact.reshape(fast.shape), atol=1e-5)


def test_contrast_refuses_what_does_not_exist():
    image, classes = np.zeros((3, 3, 1), np.float32), np.zeros((3, 3), np.int32)
    with pytest.raises(ValueError, match="no such channels"):
        kernels.colour_contrast(image, 0, 2, np.ones(1), 3)
    with pytest.raises(ValueError, match="no such class"):
        kernels.class_contrast(classes, 0, np.ones(1), 3)
    with pytest.raises(ValueError, match="window must be odd"):
        kernels.class_contrast(classes, 1, np.ones(2), 3)


def test_contrast_refuses_an_even_reach():
    with pytest.raises(ValueError, match="odd reach"):
        kernels.colour_contrast(np.zeros((3, 3, 1), np.float32), 0, 1, np.ones(1), 2)


def merge_by_hand(graph: RegionGraph) -> tuple[list[frozenset], list[float]]:
    """Merge sets of regions greedily, computing all odds anew from the regions themselves."""
    parts = [frozenset([k]) for k in range(len(graph.areas))]
    coarse = False

    def edges(p, q=None):
        """List the edges between two sets, or those that leave one."""
        return [
            e for e, (a, b) in enumerate(graph.pairs)
            if ((a in p) != (b in p)) and (q is None or a in q or b in q)
        ]  # fmt: skip

    def log_odds(p, q):
        between = edges(p, q)
        if not between:
            return np.inf
        length = graph.lengths[between].sum()
        features = [
            (CHANCE.contrasts[name], values[between].sum() / length)
            for name, values in graph.contrasts.items()
        ]
        areas = [graph.areas[list(part)].sum() for part in (p, q)]
        for name, sums in graph.sums.items():
            x, y = (sums[list(part)].sum(0) / a for part, a in zip((p, q), areas, strict=True))
            if name == "roughness":
                difference = min(x[0], y[0])
            elif name in ("materials", "textons"):
                difference = 0.5 * ((x - y) ** 2 / (x + y)).sum()
            else:
                difference = np.sqrt(((x - y) ** 2).sum())
            features.append((CHANCE.regions[name], difference))
        perimeters = [graph.lengths[edges(part)].sum() for part in (p, q)]
        features.append((CHANCE.perimeter, length / min(perimeters)))
        width = min(a / perimeter for a, perimeter in zip(areas, perimeters, strict=True))
        features.append((CHANCE.width, width / np.sqrt(graph.areas.sum())))
        small, large = np.log(np.sort(areas) / graph.areas.sum())
        odds = (
            CHANCE.bias + CHANCE.smaller * small + CHANCE.larger * large
            + sum(c.plain * min(x, c.cap) + c.root * np.sqrt(min(x, c.cap)) for c, x in features)
        )  # fmt: skip
        if coarse:
            return odds + COARSE_WEIGHT * np.log(np.exp(small) / TYPICAL)
        if np.exp(small) < SPECK:
            return np.log(np.exp(small) / SPECK / (1 + np.exp(-odds)))
        return odds

    made, heights = [], [-np.inf]
    while len(parts) > 1:
        p, q = min(itertools.combinations(parts, 2), key=lambda pair: log_odds(*pair))
        if not coarse and log_odds(p, q) > 0:
            coarse = True
            continue
        heights.append(max(heights[-1], log_odds(p, q), 1e-5 if coarse else -np.inf))
        parts = [part for part in parts if part not in (p, q)] + [p | q]
        made.append(p | q)
    return made, heights[1:]


@pytest.mark.parametrize("bias", [-6.5, -3.0, 0.0])
@pytest.mark.parametrize("seed", range(3))
def test_merging_equals_that_by_hand(seed, bias, monkeypatch):
    """Some of the merges are made before the odds are even, and some beyond."""
    monkeypatch.setattr("test_hierarchy.CHANCE", dataclasses.replace(CHANCE, bias=bias))
    base, graph = random_regions(np.random.default_rng(seed), n=14)
    tree = merge_basins(base, graph, CHANCE)
    content = {k: frozenset([k]) for k in range(len(graph.areas))}
    made = []
    for kept, absorbed in tree.merges.tolist():
        content[kept] |= content.pop(absorbed)
        made.append(content[kept])
    expected, log_odds = merge_by_hand(graph)
    assert made == expected
    np.testing.assert_allclose(tree.levels, to_levels(np.array(log_odds)), rtol=1e-10)


def test_every_cue_has_its_weights():
    assert [*CHANCE.contrasts] == [*(cue.name for cue in CUES), EMBEDDING_STEP]
    np.testing.assert_allclose(to_levels(np.array([-1e6, 0.0, 1e6])), [0, 0.5, 1], atol=1e-6)
    assert to_levels(np.array([1e6])).max() < 1


def test_levels_rise_with_the_odds_and_are_half_where_these_are_even():
    log_odds = np.concatenate([np.linspace(-400, 20, 3001), [0.0]])
    levels = to_levels(np.sort(log_odds))
    assert (np.diff(levels) > 0)[np.sort(log_odds)[1:] < 20].all()
    assert (levels <= 0.5).sum() == (log_odds <= 0).sum()
    inside = np.linspace(-30, 20, 101)
    np.testing.assert_allclose(to_log_odds(to_levels(inside)), inside, atol=1e-6)
    assert float(to_log_odds(0.5)) == 0


def test_the_default_cut_is_where_it_was(tree):
    """The level 1/2 parts what is likelier apart than not from what is not, on any scale."""
    even = to_log_odds(tree.levels) <= 0
    expected = tree.with_regions(1 + int((~even).sum()))
    assert same_partition(tree.cut(0.5), expected)


def test_merges_lie_on_both_sides_of_even_odds():
    base, graph = random_regions(np.random.default_rng(0), n=14)
    tree = merge_basins(base, graph, dataclasses.replace(CHANCE, bias=-3.0))
    assert (tree.levels < 0.5).any()
    assert (tree.levels > 0.5).any()
    assert not (tree.levels == 0.5).any()


def test_no_speck_stands_for_itself(samples):
    rng = np.random.default_rng(0)
    image = iio.imread(samples / "rocket.jpg").copy()
    for y, x in rng.integers(10, 400, (30, 2)):
        image[y : y + 3, x : x + 2] = (255, 0, 0)
    tree = segment(image).hierarchy
    for labels in (tree.cut(0.5), tree.with_regions(5)):
        assert np.bincount(labels.ravel()).min() > SPECK * labels.size / 2
    assert np.bincount(tree.cut(0).ravel()).min() < SPECK * image[..., 0].size


def test_numbers_of_regions_are_nested(tree):
    for n in range(1, 12):
        coarse, fine = tree.with_regions(n), tree.with_regions(n + 1)
        assert len(np.unique(fine.astype(np.int64) * (n + 1) + coarse)) == n + 1


def test_cuts_are_nested_and_connected(tree):
    labels = [tree.cut(level) for level in (0, 0.2, 0.4, 0.5, 0.7, 1)]
    counts = [int(found.max()) + 1 for found in labels]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == len(tree.merges) + 1
    assert counts[-1] == 1
    for fine, coarse in itertools.pairwise(labels):
        owners = {}
        for a, b in zip(fine.ravel().tolist(), coarse.ravel().tolist(), strict=True):
            assert owners.setdefault(a, b) == b
    assert same_partition(labels[3], split_regions(labels[3]))


def test_the_next_steps_are_the_cuts_that_last_longest(tree):
    def lasts(n):
        """Measure the range of levels at which there are n regions."""
        ends = [0.0, *tree.levels, 1.0]
        done = len(tree.merges) + 1 - n
        return ends[done + 1] - ends[done]

    for n in (2, 5, 14, 60):
        fewer, more = tree.next_steps(n)
        assert n / 2 <= fewer < n < more <= 2 * n
        assert lasts(fewer) == max(map(lasts, range(-(-n // 2), n)))
        assert lasts(more) == max(map(lasts, range(n + 1, 2 * n + 1)))
    assert tree.next_steps(1) == [2]
    assert len(tree.next_steps(tree.n_regions)) == 1


def test_a_cut_has_as_many_regions_as_asked_for(tree):
    for n in (1, 2, 7, 30):
        assert len(np.unique(tree.with_regions(n))) == n
    every = len(tree.merges) + 1
    assert tree.with_regions(10**6).max() + 1 == every
    with pytest.raises(InvalidInputError, match="n_regions must be a whole number of at least 1"):
        tree.with_regions(0)
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        tree.cut(1.5)


def test_the_contour_map_holds_every_level(tree):
    ucm2 = tree.contour_map()
    height, width = tree.base.shape
    assert ucm2.shape == (2 * height + 1, 2 * width + 1)
    assert (ucm2[1::2, 1::2] == 0).all()
    for level in UCM_THRESHOLDS[::7]:
        assert same_partition(cut_contour_map(ucm2, level), tree.cut(level)), level


def test_a_base_without_some_regions_keeps_the_contours():
    base, graph = random_regions(np.random.default_rng(5))
    tree = merge_basins(base, graph, CHANCE)
    beside = [int(pair.sum()) - 7 for pair in graph.pairs if 7 in pair][:3]
    patched = np.where(np.isin(base, beside), 7, base).astype(np.int32)
    smaller = tree.resized(patched)
    assert len(smaller.merges) == len(tree.merges) - len(beside)
    ucm2 = Hierarchy(patched, tree.merges, tree.levels).contour_map()
    np.testing.assert_array_equal(smaller.contour_map(), ucm2)
    for level in tree.levels[::4]:
        cut = smaller.cut(level)
        assert same_partition(cut, cut_contour_map(ucm2, np.nextafter(np.float32(level), 2)))
        assert len(np.unique(cut)) == cut.max() + 1


def test_flat_colours_are_recovered_at_every_size():
    colours = np.array([[200, 30, 30], [30, 200, 30], [30, 30, 200], [220, 220, 40]], np.uint8)
    for side in (8, 16, 40, 130, 700):
        blocks = np.ones((side, side * 3 // 4), int)
        truth = np.kron(np.array([[0, 1, 1], [2, 2, 3]]), blocks)
        result = segment(colours[truth])
        assert result.n_regions == 4
        assert score(result.labels, [truth]).covering > 0.999


def test_the_report_tells_how_the_labels_were_cut(chelsea):
    for settings, level, segments in (
        (Settings(), 0.5, None),
        (Settings(cut=Level(0.3)), 0.3, None),
        (Settings(cut=Regions(4)), None, None),
        (Settings(cut=Clusters(4)), None, 4),
    ):
        result = segment(chelsea, settings)
        report = result.report()
        assert (report["level"], report["segments"]) == (level, segments)
        assert Settings.from_dict(report["settings"]) == settings == result.settings
        assert (result.hierarchy is None) == (segments is not None)


def test_the_generated_scene_is_found_without_any_option(samples):
    scene, truth = (iio.imread(samples / f"scene{end}.png") for end in ("", "_labels"))
    result = segment(scene)
    assert result.n_regions == truth.max() + 1 == 6
    assert score(result.labels, [truth.astype(int)]).covering > 0.99


def test_one_photograph_at_several_sizes_gives_much_the_same_regions(samples):
    image = iio.imread(samples / "coffee.jpg")
    large = segment(image).labels
    for factor in (2, 5):
        small = segment(downsample(image, factor)).labels
        rows, columns = (
            ((np.arange(n) + 0.5) * factor).astype(int).clip(max=m - 1)
            for n, m in zip(small.shape, large.shape, strict=True)
        )
        assert score(small, [large[np.ix_(rows, columns)]]).covering > 0.7


def test_the_same_bytes_on_any_number_of_threads(chelsea):
    trees = [segment(chelsea, threads=t).hierarchy for t in (1, 2)]
    assert trees[0].base.tobytes() == trees[1].base.tobytes()
    assert trees[0].levels.tobytes() == trees[1].levels.tobytes()


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 7), (60, 50), (500, 40)])
def test_odd_images(shape):
    rng = np.random.default_rng(0)
    for image in (np.zeros(shape), rng.random(shape), rng.random((*shape, 3))):
        result = segment(image, Settings(n_dims=min(3, image[..., 0].size if image.ndim == 3
                                                    else image.size)))  # fmt: skip
        assert result.labels.shape == shape
        assert len(np.unique(result.labels)) == result.n_regions
        assert np.isfinite(result.hierarchy.levels).all()
        ucm2 = result.hierarchy.contour_map()
        assert ucm2.shape == (2 * shape[0] + 1, 2 * shape[1] + 1)
        assert same_partition(cut_contour_map(ucm2, 0.5), result.labels)


def test_cues_have_no_preferred_side(chelsea):
    """An image upside down has its cues upside down, but for the sampling of the classes."""
    small = downsample(chelsea, 4)
    appearance = describe(look_closely(as_raster(small), (20, 30)), (20, 30), small.shape)
    flipped = type(appearance)(
        *(
            part[::-1].copy()
            for part in (
                appearance.lab,
                appearance.materials,
                appearance.textons,
                appearance.roughness,
            )
        )
    )
    for (cue, (right, down)), (_, (right2, down2)) in zip(
        contrasts(appearance), contrasts(flipped), strict=True
    ):
        np.testing.assert_allclose(right, right2[::-1], atol=1e-4, err_msg=str(cue))
        np.testing.assert_allclose(down, down2[::-1], atol=1e-4, err_msg=str(cue))
    assert {cue.reach % 2 for cue in CUES} == {1}


@pytest.mark.parametrize("shape", [(20, 30), (37, 61), (7, 9), (40, 9)])
def test_edges_are_enlarged_as_the_image_is(shape):
    """A contrast that grows evenly along y and x does so at every size."""
    y, x = np.arange(9.0), np.arange(14.0)
    right = (y[:, None] + 0.5 + 2 * (x[None, :-1] + 1)).astype(np.float32)
    down = (y[:-1, None] + 1 + 2 * (x[None] + 0.5)).astype(np.float32)
    larger = enlarge_edges((right, down), shape)
    assert [found.shape for found in larger] == [(shape[0], shape[1] - 1), (shape[0] - 1, shape[1])]
    rows, columns = (np.arange(n) / n for n in shape)
    centre_y, centre_x = (rows + 0.5 / shape[0]) * 9, (columns + 0.5 / shape[1]) * 14
    expected = (
        centre_y[:, None] + 2 * columns[None, 1:] * 14,
        rows[1:, None] * 9 + 2 * centre_x[None],
    )
    inside = (slice(shape[0] // 4, -(shape[0] // 4)), slice(shape[1] // 4, -(shape[1] // 4)))
    for found, exact in zip(larger, expected, strict=True):
        np.testing.assert_allclose(found[inside], exact[inside], rtol=1e-5)


def test_command_writes_the_hierarchy(samples, tmp_path):
    result = run("segment", samples / "chelsea.jpg", "--hierarchy", "--regions", 6, "-o", tmp_path)
    assert result.exit_code == 0, result.stderr
    labels = read_labels(tmp_path / "chelsea_labels.png")
    assert labels.max() + 1 == 6
    ucm2 = loadmat(tmp_path / "chelsea_ucm.mat")["ucm2"]
    assert 0 < ucm2.max() < 1
    levels = list(read_segmentations(tmp_path / "chelsea_ucm.mat"))
    assert len(levels) == 99
    cut = run("segment", samples / "chelsea.jpg", "--level", "0.3", "-o", tmp_path / "cut")
    assert cut.exit_code == 0, cut.stderr
    assert same_partition(read_labels(tmp_path / "cut" / "chelsea_labels.png"), levels[29])
    picture = iio.imread(tmp_path / "chelsea_ucm.png")
    assert picture.shape == labels.shape
    assert picture.max() == 255
    assert picture.min() == 0
    clusters = run("segment", samples / "chelsea.jpg", "-k", 4, "--preset", "default",
                   "--save", "ucm,labels", "-o", tmp_path / "k")  # fmt: skip
    assert clusters.exit_code == 0, clusters.stderr
    assert read_labels(tmp_path / "k" / "chelsea_labels.png").max() + 1 == 4
    assert (loadmat(tmp_path / "k" / "chelsea_ucm.mat")["ucm2"] == ucm2).all()


def test_command_refuses_two_ways_to_cut_and_a_hierarchy_of_others(samples):
    for args, words in (
        (("-k", 3, "--regions", 4), "in one way only"),
        (("--method", "sc", "--hierarchy"), "needs the method pfe"),
        (
            ("--method", "sc", "--regions", 3),
            "which --method sc has not; give -k",
        ),
        (("--level", 2), "level"),
    ):
        result = run("segment", samples / "chelsea.jpg", *args)
        assert result.exit_code == 2
        assert words in result.stderr


def absorbed_by_plain_steps(tree: Hierarchy, base: np.ndarray, smallest: float) -> np.ndarray:
    """Join the weakest sides of regions that are too small, one at a time."""
    pairs = touching(base)
    order = np.argsort(tree._merge_levels(pairs[:, 0], pairs[:, 1]), kind="stable")
    group = {label: {label} for label in np.unique(base).tolist()}
    sizes = np.bincount(base.ravel())

    def weakest_of_a_small_one() -> tuple[int, int] | None:
        for a, b in pairs[order].tolist():
            sides = group[a], group[b]
            if sides[0] is not sides[1] and min(sizes[list(s)].sum() for s in sides) < smallest:
                return a, b
        return None

    while (pair := weakest_of_a_small_one()) is not None:
        together = group[pair[0]] | group[pair[1]]
        group |= dict.fromkeys(together, together)
    return np.vectorize(lambda label: min(group[label]))(base)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("smallest", [2, 30, 80, 400])
def test_splinters_join_across_their_weakest_sides(seed, smallest):
    rng = np.random.default_rng(seed)
    base, graph = random_regions(rng)
    tree = merge_basins(base, graph, CHANCE)
    other = np.ascontiguousarray(base[:, ::2][rng.permutation(len(base))][::2])  # some are gone
    absorbed = tree.absorb_splinters(other, smallest)
    assert same_partition(absorbed, absorbed_by_plain_steps(tree, other, smallest))
    assert np.bincount(absorbed.ravel())[np.unique(absorbed)].min() >= smallest
    sizes = np.bincount(other.ravel())
    for label in np.unique(absorbed):
        members = np.unique(other[absorbed == label])
        assert label in members
        assert sizes[label] == sizes[members].max()


def test_nothing_is_absorbed_where_nothing_is_too_small():
    base, graph = random_regions(np.random.default_rng(5))
    tree = merge_basins(base, graph, CHANCE)
    assert tree.absorb_splinters(base, np.bincount(base.ravel()).min()) is base
    whole = np.zeros((2, 2), np.int32)
    assert (tree.absorb_splinters(whole, 9) == whole).all()


@pytest.mark.parametrize("step", [1, 3, 4, 9])
def test_no_level_has_splinters(samples, step):
    image = iio.imread(samples / "astronaut.jpg")[::step, ::step]
    tree = segment(image).hierarchy
    smallest = splinter_pixels(tree.base.size)
    assert smallest >= 7 or step == 9
    for level in (0, 0.1, 0.3, 0.5, 0.8):
        labels = tree.cut(level)
        assert np.bincount(labels.ravel()).min() >= smallest
        assert same_partition(labels, split_regions(labels))
    assert len(np.unique(tree.with_regions(12))) == 12


def test_splinters_of_icons_are_fewer_pixels():
    assert [splinter_pixels(n) for n in (1, 100, 256, 1024, 140_000)] == [0.01, 1, 2.56, 7, 7]
    assert splinter_pixels(12_000_000) == pytest.approx(600)
