from __future__ import annotations

import numpy as np
import pytest
from reference import area_weights

from pfeseg import InvalidInputError, downsample, enlarge_labels, kernels
from pfeseg.image.arrays import as_raster
from pfeseg.image.pixel_types import KERNEL_TYPES
from pfeseg.image.resize import area_average, shrink_to


def test_all_types_mean_the_same():
    eight = np.arange(0, 240, 10, dtype=np.uint8).reshape(2, 4, 3)
    sixteen = eight.astype(np.uint16) * 257
    np.testing.assert_allclose(as_raster(eight).rgb(), as_raster(sixteen).rgb(), atol=1e-15)
    np.testing.assert_allclose(
        as_raster(eight).rgb(), as_raster((eight / 255).astype(np.float32)).rgb(), atol=1e-7
    )
    assert (
        as_raster(eight[..., 0]).rgb().shape == as_raster(eight[..., :1]).rgb().shape == (2, 4, 3)
    )


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((2, 2, 4, 3), np.uint8), r"got \(2, 2, 4, 3\)"),
        (np.zeros(5, np.uint8), r"got \(5,\)"),
        (np.zeros((0, 3), np.uint8), "empty"),
        (np.zeros((2, 2), complex), "complex128"),
        (np.array([["a", "b"]]), "<U1"),
        (np.full((2, 2), np.nan), "NaN"),
    ],
)
def test_what_is_no_image_is_rejected(image, message):
    with pytest.raises(InvalidInputError, match=message):
        as_raster(image).rgb()


@pytest.mark.parametrize("kind", KERNEL_TYPES)
def test_an_image_stays_as_it_came(kind):
    image = np.ones((4, 5, 3), dtype=kind)
    assert np.shares_memory(as_raster(image).values, image)
    assert as_raster(image[..., 0]).values.shape == (4, 5, 1)


def test_the_order_of_bytes_does_not_matter():
    image = np.arange(24, dtype=np.uint16).reshape(2, 4, 3) * 2000
    swapped = image.astype(image.dtype.newbyteorder())
    np.testing.assert_array_equal(as_raster(swapped).rgb(), as_raster(image).rgb())
    np.testing.assert_array_equal(downsample(swapped, 2), downsample(image, 2))


@pytest.mark.parametrize("kind", KERNEL_TYPES)
@pytest.mark.parametrize(
    ("large", "small"),
    [((31, 47), (7, 12)), ((1, 9), (1, 2)), ((9, 1), (4, 1)), ((5, 6), (5, 6)), ((8, 9), (1, 1))],
)
def test_averages_are_products_with_shares_of_areas(kind, large, small):
    rng = np.random.default_rng(0)
    array = (rng.random((*large, 2)) * (200 if np.issubdtype(kind, np.integer) else 1)).astype(kind)
    rows, columns = (area_weights(a, b) for a, b in zip(large, small, strict=True))
    expected = np.einsum("ij,kl,jlc->ikc", rows, columns, array.astype(float))
    averages = area_average(array, small)
    np.testing.assert_allclose(averages, expected, rtol=1e-12)
    for threads in (2, 5):
        found = kernels.average_areas(array, -np.inf, np.inf, *small, threads)
        np.testing.assert_array_equal(found, averages)
    middle = np.sort(array, axis=None)[array.size // 2]
    clipped = kernels.average_areas(array, -np.inf, middle, *small, 1)
    expected = kernels.average_areas(np.minimum(array, middle), -np.inf, np.inf, *small, 1)
    np.testing.assert_array_equal(clipped, expected)


def test_shrinking_never_leaves_the_range_of_values():
    white = as_raster(np.full((37, 53), 255, np.uint8))
    assert shrink_to(white, (11, 17)).rgb().max() <= 1.0


def test_downsampling_keeps_the_mean_and_rounds_down(chelsea):
    small = downsample(chelsea, 4)
    assert small.shape == (300 // 4, 451 // 4, 3)
    np.testing.assert_allclose(small.mean(), chelsea.mean() / 255, rtol=1e-3)
    blocks = as_raster(chelsea).rgb()[:, :448].reshape(75, 4, 112, 4, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(downsample(chelsea[:, :448], 4), blocks, atol=1e-12)


def test_downsampling_leaves_a_pixel_and_takes_any_factor():
    assert downsample(np.zeros((1, 9)), 4).shape == (1, 2, 3)
    assert downsample(np.zeros((10, 9)), 2.5).shape == (4, 3, 3)
    with pytest.raises(InvalidInputError, match="at least 1"):
        downsample(np.zeros((4, 4)), 0.5)


def test_enlarged_labels_undo_downsampling():
    labels = np.arange(12).reshape(3, 4)
    large = enlarge_labels(labels, (12, 16))
    assert (large == np.kron(labels, np.ones((4, 4), int))).all()
    assert set(enlarge_labels(labels, (13, 17)).ravel()) == set(range(12))
    assert enlarge_labels(labels, (3, 4)).tolist() == labels.tolist()


def test_images_are_only_ever_shrunk_by_averages():
    for shape in ((0, 2), (2, 0), (4, 2), (2, 5)):
        with pytest.raises(ValueError, match="only be shrunk"):
            kernels.average_areas(np.zeros((3, 4, 3)), 0.0, 1.0, *shape, 1)
