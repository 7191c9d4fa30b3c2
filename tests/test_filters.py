"""Gaussian filters and watersheds, against SciPy and scikit-image."""

import numpy as np
import pytest
from scipy import ndimage
from skimage.measure import label
from skimage.morphology import local_minima
from skimage.segmentation import watershed

from pfeseg import kernels
from pfeseg.image.smoothing import gaussian, smooth


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("order", [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)])
@pytest.mark.parametrize("width", [0.7, 2.3, 9.0])
@pytest.mark.parametrize("shape", [(40, 33, 3), (40, 33), (1, 7, 1), (2, 3, 2)])
def test_filters_equal_those_of_scipy(order, width, shape, rng):
    image = rng.random(shape)
    flat = (0,) * (len(shape) - 2)
    expected = ndimage.gaussian_filter(image, (width, width, *flat), order=(*order, *flat))
    down, right = (gaussian(width, along) for along in order)
    found = kernels.correlate(image.reshape(*shape[:2], -1), down, right).reshape(shape)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    if order == (0, 0):
        np.testing.assert_array_equal(smooth(image, width), found)


def test_single_precision_stays_so(rng):
    image = rng.random((30, 20, 5), dtype=np.float32)
    found = smooth(image, 3.0)
    assert found.dtype == np.float32
    expected = ndimage.gaussian_filter(image.astype(float), (3, 3, 0))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_no_width_leaves_the_image_alone(rng):
    image = rng.random((4, 5))
    assert smooth(image, 0.0) is image


def relief_of(shape, rng, steps):
    smoothed = ndimage.gaussian_filter(rng.random(shape), 1.0)
    return np.round(smoothed * steps).astype(np.float32) if steps else smoothed.astype(np.float32)


@pytest.mark.parametrize("shape", [(60, 80), (1, 50), (50, 1)])
def test_basins_equal_those_of_scikit_image(shape, rng):
    relief = relief_of(shape, rng, 0)
    np.testing.assert_array_equal(kernels.basins(relief) + 1, watershed(relief))


def test_a_flat_image_is_one_basin():
    assert (kernels.basins(np.zeros((3, 4), dtype=np.float32)) == 0).all()


def test_every_plateau_without_a_lower_neighbour_is_one_basin(rng):
    relief = relief_of((60, 80), rng, 12)  # of equal heights: what lies between may go either way
    minima = label(local_minima(relief, connectivity=1), connectivity=1)
    found = kernels.basins(relief) + 1
    assert found.max() == minima.max() > 20
    np.testing.assert_array_equal(found[minima > 0], minima[minima > 0])
    assert found.min() == 1


def test_markers_spread_as_in_scikit_image(rng):
    relief = relief_of((60, 80), rng, 0)
    markers = np.zeros(relief.shape, dtype=np.int32)
    markers[5:20, 5:20], markers[40:50, 30:70], markers[10, 60] = 1, 2, 3
    found = kernels.watershed(relief, markers - 1) + 1
    np.testing.assert_array_equal(found, watershed(relief, markers))


def test_without_markers_nothing_is_flooded():
    relief = np.zeros((3, 4), dtype=np.float32)
    assert (kernels.watershed(relief, np.full((3, 4), -1, dtype=np.int32)) == -1).all()


def test_wrong_shapes_are_refused():
    relief = np.zeros((3, 4), dtype=np.float32)
    with pytest.raises(ValueError, match="one shape"):
        kernels.watershed(relief, np.zeros((4, 3), dtype=np.int32))
    with pytest.raises(ValueError, match="odd filters"):
        kernels.correlate(relief[..., None], np.ones(2), np.ones(1))
