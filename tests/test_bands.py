"""Images of any number of bands."""

from __future__ import annotations

import csv
import json

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import SAMPLES, run
from sklearn.metrics import adjusted_rand_score

import pfeseg
from pfeseg import ImageWarning, InvalidInputError, Settings, as_raster, segment
from pfeseg.files.reading import read_image
from pfeseg.image.bands import MOST_COMPONENTS, SPREAD, Layers
from pfeseg.labels.metrics import rand_index


def render_cube(bands: int = 8, size: tuple[int, int] = (150, 200)) -> tuple[np.ndarray, ...]:
    """Render a scene of five regions, two of which the first three bands do not tell apart."""
    rng = np.random.default_rng(3)
    y, x = np.indices(size) / max(size)
    truth = np.zeros(size, dtype=np.int32)
    truth[y > 0.35 + 0.1 * np.sin(5 * x)] = 1
    truth[(x > 0.55) & (y > 0.2)] = 2
    truth[(x - 0.25) ** 2 + (y - 0.5) ** 2 < 0.02] = 3
    truth[(x - 0.78) ** 2 + (y - 0.5) ** 2 < 0.02] = 4
    spectra = rng.uniform(500, 3000, (5, bands))
    spectra[4, :3] = spectra[2, :3]
    spectra[3, :3] = spectra[1, :3]
    cube = spectra[truth] + rng.normal(0, 60, (*size, bands))
    return truth, np.clip(cube, 0, 65535).astype(np.uint16)


TRUTH, CUBE = render_cube()


def agreement(labels: np.ndarray) -> float:
    """Return the adjusted Rand index of labels of the cube."""
    return float(adjusted_rand_score(TRUTH.ravel(), labels.ravel()))


def test_all_bands_find_what_three_do_not_show():
    with pytest.warns(ImageWarning, match=r'8 bands, used 1,2,3; bands="all" uses all'):
        three = segment(CUBE)
    every = segment(CUBE, Settings(bands="all"))
    assert agreement(every.labels) > 0.97
    assert agreement(three.labels) < 0.9
    assert every.report()["bands"] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (three.report()["bands"], three.report()["bands_in_image"]) == ([1, 2, 3], 8)
    assert len(every.report()["black"]) == 8


@pytest.mark.parametrize("cut", [pfeseg.Clusters(5), pfeseg.Regions(5)])
def test_every_cut_takes_bands(cut):
    labels = segment(CUBE, Settings(bands="all", cut=cut)).labels
    assert agreement(labels) > 0.9


@pytest.mark.parametrize("name", ["gmm", "kmeans", "ncut"])
def test_every_method_takes_bands(name):
    settings = Settings(method=name, n_dims=5, bands="5,6,7,8", max_size=60)
    assert rand_index(segment(CUBE, settings).labels, TRUTH) > 0.7


def test_three_bands_are_red_green_and_blue_in_the_order_given():
    photo = iio.imread(SAMPLES / "coffee.jpg")[::4, ::4]
    stacked = np.dstack([np.zeros(photo.shape[:2], np.uint8), photo[..., ::-1]])
    found = segment(stacked, Settings(bands="4,3,2"))
    np.testing.assert_array_equal(found.labels, segment(photo).labels)
    assert found.bands == (4, 3, 2)
    one = as_raster(stacked, bands="3")
    np.testing.assert_array_equal(one.values[..., 0], photo[..., 1])


def test_components_have_the_spread_of_a_photograph_and_no_more_than_six():
    raster = as_raster(CUBE, bands="all")
    variances = raster.values.reshape(-1, raster.values.shape[2]).var(axis=0)
    assert raster.kind == "components"
    assert raster.values.shape[2] <= MOST_COMPONENTS
    assert np.sqrt(variances.sum()) == pytest.approx(SPREAD, rel=1e-3)
    assert (np.diff(variances) <= 1e-3).all()
    covariance = np.cov(raster.values.reshape(-1, raster.values.shape[2]).T)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 1e-3 * covariance.max()


def test_a_unit_of_a_band_does_not_matter():
    scaled = CUBE * np.array([1, 7, 0.01, 3, 1, 1, 100, 1.0])
    plain = segment(CUBE.astype(float), Settings(bands="all")).labels
    assert rand_index(segment(scaled, Settings(bands="all")).labels, plain) > 0.99


def test_constant_and_equal_bands_do_no_harm():
    flat = np.full((30, 40, 5), 7, np.uint8)
    assert segment(flat, Settings(bands="all")).n_regions == 1
    twice = np.dstack([CUBE[..., 4]] * 2)
    assert as_raster(twice).values.shape == (150, 200, 2)


def test_two_bands_are_both_used():
    pair = CUBE[..., [4, 6]]
    found = segment(pair, Settings(cut=pfeseg.Regions(5)))
    assert found.bands == (1, 2)
    assert agreement(found.labels) > 0.9
    picture = pfeseg.draw_overlay(pair, found.labels)
    assert picture.shape == (150, 200, 3)


@pytest.mark.parametrize("bands", ["", "0", "1,1", "1.5", "none", "-1", 3])
def test_what_is_no_choice_of_bands_is_refused(bands):
    with pytest.raises(InvalidInputError, match="bands must be auto, all or different numbers"):
        Settings(bands=bands)


def test_a_band_that_is_not_there_is_named():
    with pytest.raises(InvalidInputError, match="names band 9, but the image has 8"):
        as_raster(CUBE, bands="2,9")


def test_pictures_show_the_first_three_chosen():
    layers = as_raster(CUBE, bands="all").layers
    assert isinstance(layers, Layers)
    shown = layers.picture().astype(float)
    assert shown.shape == (150, 200, 3)
    for k in range(3):
        assert np.corrcoef(shown[..., k].ravel(), CUBE[..., k].ravel())[0, 1] > 0.99


def test_stages_in_python_agree():
    settings = Settings(bands="all", max_size=60)
    raster = as_raster(CUBE, bands="all")
    small = pfeseg.downsample(raster, settings.shrinking(raster.shape))
    size = small.shape
    texture = settings.texture * pfeseg.measure_texture(raster, size)
    graph = pfeseg.build_pixel_graph(small, settings.neighbours, settings.features, texture=texture)
    Y0 = pfeseg.gmm_initial_embedding(small, settings.dims_for(size), texture=texture)
    embedding = pfeseg.embed(graph, Y0, settings.solver)
    hierarchy = pfeseg.build_hierarchy(raster, embedding.Y, graph.degrees, size)
    np.testing.assert_array_equal(hierarchy.cut(0.5), segment(CUBE, settings).labels)


@pytest.fixture
def cube(tmp_path):
    path = tmp_path / "cube.tif"
    tifffile.imwrite(path, CUBE, photometric="minisblack", planarconfig="contig")
    return path


def test_the_command_says_what_it_does_not_use(cube, tmp_path):
    result = run("segment", cube, "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert "cube.tif: 8 bands, used 1,2,3; --bands all uses all" in result.stderr
    result = run("segment", cube, "-o", tmp_path / "all", "--bands", "all")
    assert (result.exit_code, "used" in result.stderr) == (0, False)


def test_results_of_bands(cube, tmp_path):
    saved = "labels,overlay,regions,cutouts,coco,embedding"
    result = run("segment", cube, "-o", tmp_path, "--bands", "8,7,6,5", "--save", saved)
    assert result.exit_code == 0
    report = json.loads((tmp_path / "cube.json").read_text())
    assert report["settings"]["bands"] == "8,7,6,5"
    assert report["bands"] == [8, 7, 6, 5]
    with (tmp_path / "cube_regions.csv").open() as file:
        rows = list(csv.DictReader(file))
    labels = iio.imread(tmp_path / "cube_labels.png")
    for row in rows:
        inside = CUBE[labels == int(row["label"])]
        assert float(row["mean_band_7"]) == pytest.approx(inside[:, 6].mean(), abs=0.06)
    assert "mean_red" not in rows[0]
    again = run("segment", cube, "-o", tmp_path / "again", "--config", tmp_path / "cube.json")
    assert again.exit_code == 0
    assert (iio.imread(tmp_path / "again/cube_labels.png") == labels).all()


def test_stage_commands_agree_with_the_whole(cube, tmp_path):
    for words in (
        ("downsample", cube, "-o", tmp_path / "i.npz", "--bands", "all"),
        ("graph", tmp_path / "i.npz", "-o", tmp_path / "g.npz"),
        ("init", tmp_path / "i.npz", "-o", tmp_path / "y.npz"),
        ("embed", tmp_path / "g.npz", tmp_path / "y.npz", "-o", tmp_path / "e.npz"),
        ("merge", tmp_path / "e.npz", cube, "-o", tmp_path / "labels.png"),
        ("overlay", cube, tmp_path / "labels.png", "-o", tmp_path / "o.png", "--bands", "all"),
        ("segment", cube, "-o", tmp_path, "--bands", "all"),
    ):
        assert run(*words).exit_code == 0, words
    for ours, whole in (("labels", "cube_labels"), ("o", "cube_overlay")):
        assert (iio.imread(tmp_path / f"{ours}.png") == iio.imread(tmp_path / f"{whole}.png")).all()


def test_arrays_and_sweeps_on_the_command_line(tmp_path):
    np.save(tmp_path / "cube.npy", CUBE)
    out = tmp_path / "out"
    result = run("segment", tmp_path / "cube.npy", "-o", out, "--bands", "all", "-k", "5")
    assert result.exit_code == 0
    labels = iio.imread(out / "cube_labels.png")
    assert agreement(labels) > 0.9
    swept = run("sweep", tmp_path / "cube.npy", "-o", out, "-d", "5,6", "-k", "5", "--bands", "all")
    assert swept.exit_code == 0
    np.save(tmp_path / "bad.npy", np.zeros(5))
    result = run("segment", tmp_path / "bad.npy", "-o", out)
    assert (result.exit_code, "got (5,)" in result.stderr) == (1, True)
    np.save(tmp_path / "object.npy", np.array([[None]]), allow_pickle=True)
    result = run("segment", tmp_path / "object.npy", "-o", out)
    assert (result.exit_code, "internal" in result.stderr) == (1, False)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_channels_of_microscopes_are_found_by_their_axes(tmp_path, kind):
    stack = np.random.default_rng(0).integers(0, 255, (3, 2, 20, 30)).astype(kind)  # z, channel
    imagej, ome = tmp_path / "imagej.tif", tmp_path / "image.ome.tif"
    tifffile.imwrite(imagej, stack, imagej=True, metadata={"axes": "ZCYX"})
    tifffile.imwrite(ome, stack, metadata={"axes": "ZCYX"})
    for path in (imagej, ome):
        np.testing.assert_array_equal(read_image(path, page=2), np.moveaxis(stack[2], 0, 2))
        with pytest.raises(InvalidInputError, match=r"has 3 page\(s\)"):
            read_image(path, page=3)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize("planar", ["contig", "separate"])
@pytest.mark.parametrize("bands", [2, 4, 7])
def test_bands_of_a_tiff_come_whole(tmp_path, kind, planar, bands):
    array = np.random.default_rng(0).integers(0, 255, (20, 30, bands)).astype(kind)
    stored = array if planar == "contig" else np.moveaxis(array, 2, 0)
    options = {"photometric": "minisblack", "planarconfig": planar}
    tifffile.imwrite(tmp_path / "a.tif", stored, extrasamples=[0] * (bands - 1), **options)
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif"), array)


def test_alpha_is_alpha_where_the_file_says_so(tmp_path):
    grey = np.full((20, 30, 2), 100, np.uint16)
    grey[..., 1] = 0
    tifffile.imwrite(
        tmp_path / "a.tif", grey, photometric="minisblack", extrasamples=["unassalpha"]
    )
    assert (read_image(tmp_path / "a.tif") == 65535).all()
