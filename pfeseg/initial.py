"""Initial embedding: a Gaussian mixture of the pixel colours."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.image import as_rgb

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

Assignment = Literal["hard", "soft"]

MAX_FIT_PIXELS = 20_000
"""The mixture is fitted to a random sample of this size where an image has more pixels."""

N_STARTS = 5
"""Runs of k-means from which the mixture takes its start."""

COVARIANCE_FLOOR = 1e-6
"""Added to the variances of each colour channel, as scikit-learn does too."""

_CHUNK_PIXELS = 1 << 16


def gmm_initial_embedding(
    image: ArrayLike, n_dims: int, assignment: Assignment = "hard", seed: int = 0
) -> NDArray[np.float32]:
    """Assign each pixel to the components of a Gaussian mixture of the colours.

    Parameters
    ----------
    image : (h, w) or (h, w, 3) array
        uint8, uint16 or float in [0, 1].
    n_dims : int
        Number d of full-covariance components. Where the image has fewer
        colours than that, the last columns of the result are zero.
    assignment : {"hard", "soft"}
        One-hot of the most likely component, or the posterior probabilities.
    seed : int

    Returns
    -------
    (h * w, d) float32 array
        Y0, rows in the order of the pixels.
    """
    from threadpoolctl import threadpool_limits

    colours = as_rgb(image).reshape(-1, 3)
    if not 1 <= n_dims <= len(colours):
        raise InvalidInputError(
            f"the dimension d must lie between 1 and the number of pixels, {len(colours)}; "
            f"got {n_dims}"
        )
    if assignment not in ("hard", "soft"):
        raise InvalidInputError(f'assignment must be "hard" or "soft", got {assignment!r}')
    Y0 = np.zeros((len(colours), n_dims), dtype=np.float32)
    with threadpool_limits(1):  # more threads may change the bytes
        mixture = _fit(colours, n_dims, seed)
        for begin in range(0, len(colours), _CHUNK_PIXELS):
            rows = slice(begin, begin + _CHUNK_PIXELS)
            posterior = mixture.predict_proba(colours[rows])
            if assignment == "hard":
                posterior = posterior == posterior.max(axis=1, keepdims=True)
                # Equal components may tie: the first takes all.
                posterior &= np.cumsum(posterior, axis=1) == 1
            Y0[rows, : posterior.shape[1]] = posterior
    return Y0


def _fit(colours: NDArray[np.float64], n_components: int, seed: int) -> GaussianMixture:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    if len(colours) > MAX_FIT_PIXELS:
        sample = np.random.default_rng(seed).choice(len(colours), MAX_FIT_PIXELS, replace=False)
        colours = colours[np.sort(sample)]
    n_components = min(n_components, len(np.unique(colours, axis=0)))
    start = _start(colours, n_components, seed)
    with warnings.catch_warnings():
        # A mixture that has not quite converged starts the solver as well.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GaussianMixture(len(start["means_init"]), random_state=seed, **start).fit(colours)


def _start(
    colours: NDArray[np.float64], n_components: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Start the mixture from the best of several k-means runs.

    From a single run, which is scikit-learn's own start, one component too
    often covers two colours, and expectation maximisation does not part them.
    """
    from sklearn.cluster import KMeans

    labels = KMeans(n_components, n_init=N_STARTS, random_state=seed).fit_predict(colours)
    weights, means, precisions = [], [], []
    for component in np.unique(labels):
        members = colours[labels == component]
        deviations = members - members.mean(axis=0)
        covariance = deviations.T @ deviations / len(members) + COVARIANCE_FLOOR * np.eye(3)
        weights.append(len(members) / len(colours))
        means.append(members.mean(axis=0))
        precisions.append(np.linalg.inv(covariance))
    return {
        "weights_init": np.array(weights),
        "means_init": np.array(means),
        "precisions_init": np.array(precisions),
    }
