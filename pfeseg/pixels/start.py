"""Initial embedding: a Gaussian mixture of the pixels' colours, with or without texture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import check_seed, is_whole, shown
from pfeseg.clustering.mixture import Mixture, fit_mixture
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.arrays import ImageLike
from pfeseg.pixels.options import ASSIGNMENTS, Assignment
from pfeseg.pixels.small import SmallImage

FloatArray = NDArray[np.float64]

MAX_FIT_PIXELS = 20_000
"""The mixture is fitted to a random sample of this size where an image has more pixels."""

MAX_TEXTURE_FIT_PIXELS = 4_000
"""The same for a mixture of colours and texture, for which fewer pixels are enough."""

_CHUNK_PIXELS = 1 << 16


def gmm_initial_embedding(
    image: ImageLike,
    n_dims: int,
    assignment: Assignment = "hard",
    seed: int = 0,
    texture: NDArray[np.floating[Any]] | None = None,
) -> NDArray[np.float32]:
    """Assign each pixel to the components of a Gaussian mixture of the colours.

    Parameters
    ----------
    image : (h, w) or (h, w, c) array
        As for `as_raster`.
    n_dims : int
        Number d of full-covariance components. Where the image has fewer
        colours than that, the last columns of the result are zero.
    assignment : {"hard", "soft"}
        One-hot of the most likely component, or the posterior probabilities.
    seed : int
        For the mixture.
    texture : (h, w, c) array, optional
        Such as the local contrast, in units of CIELAB. The mixture is then one
        of CIELAB colours and texture together, else of RGB colours.

    Returns
    -------
    (n, d) float32 array
        Y0, rows in the order of the pixels, of which n = h * w unless the image has a mask.

    Raises
    ------
    InvalidInputError
        For what is no image, and for other values than these; the message says which.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.array([[0.0, 0.1, 0.9, 1.0]])
    >>> Y0 = pfeseg.gmm_initial_embedding(image, 2)
    >>> Y0.shape, Y0.sum(axis=1).tolist()
    ((4, 2), [1.0, 1.0, 1.0, 1.0])
    """
    small = SmallImage.of(image, texture)
    return mixture_start(small, n_dims, assignment, check_seed(seed))


def mixture_start(
    image: SmallImage, n_dims: int, assignment: Assignment, seed: int
) -> NDArray[np.float32]:
    """Do as `gmm_initial_embedding` with an image that was checked."""
    colours = _features(image)
    if not is_whole(n_dims) or not 1 <= n_dims <= len(colours):
        raise InvalidInputError(
            f"{argument('n_dims')} must lie between 1 and the number of pixels, {len(colours)}; "
            f"got {shown(n_dims)}"
        )
    if not isinstance(assignment, str) or assignment not in ASSIGNMENTS:
        raise InvalidInputError(
            f"{argument('assignment')} must be one of {', '.join(ASSIGNMENTS)}; got "
            f"{shown(assignment)}"
        )
    Y0 = np.zeros((len(colours), n_dims), dtype=np.float32)
    most = MAX_FIT_PIXELS if image.texture is None else MAX_TEXTURE_FIT_PIXELS
    mixture = _fit(colours, n_dims, seed, most)
    for begin in range(0, len(colours), _CHUNK_PIXELS):
        rows = slice(begin, begin + _CHUNK_PIXELS)
        posterior = mixture.posterior(colours[rows])
        if assignment == "hard":
            posterior = np.eye(posterior.shape[1])[posterior.argmax(axis=1)]
        Y0[rows, : posterior.shape[1]] = posterior
    return Y0


def _features(image: SmallImage) -> FloatArray:
    """Return what the mixture is of, one row per pixel."""
    if image.texture is None:
        return image.rows(image.features)
    features = image.lab_and_texture / 100
    return np.ascontiguousarray(image.rows(features), dtype=np.float64)


def _fit(colours: FloatArray, n_components: int, seed: int, most: int) -> Mixture:
    rng = np.random.default_rng(seed)
    if len(colours) > most:
        sample = rng.choice(len(colours), most, replace=False)
        colours = colours[np.sort(sample)]
    return fit_mixture(colours, min(n_components, len(colours)), rng)
