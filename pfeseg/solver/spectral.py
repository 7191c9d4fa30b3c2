"""Spectral rivals of the piecewise flat embedding, on the same graph.

They solve the problem with squares in place of absolute values,
``min tr(Y^T L Y)  subject to  Y^T D Y = I``, L = D - W: the solution is the
generalised eigenvectors of (L, D) for the smallest eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pfeseg.blas import one_blas_thread
from pfeseg.errors import InvalidInputError, SolverError, argument
from pfeseg.solver.graph import Graph

if TYPE_CHECKING:
    from scipy.sparse import csc_array

FloatArray = NDArray[np.float64]

BLOCK_VECTORS = 32
"""Eigenvectors are computed by this number, so that the first few do not depend, not even by
rounding, on how many are asked for."""

RESIDUAL = 1e-6
"""Largest residual of an eigenvector; the eigenvalues lie between 0 and 2."""

SMALLEST_EIGENVALUE = 1e-4
"""In units of the largest one used: `weighted_coordinates` takes smaller ones for this, else the
pieces of a graph that falls apart would drown all the rest."""

_MAX_ITERATIONS = 200
_SPARE_VECTORS = 4
"""More vectors than wanted make the last of the wanted ones converge sooner."""

_SHIFT = 1e-4
"""Makes the preconditioner, (L + shift D)^-1, exist."""


@dataclass(frozen=True, eq=False)
class Eigenmaps:
    """Generalised eigenvectors of (L, D).

    Attributes
    ----------
    values : (q,) array
        Ascending; the first is 0.
    vectors : (n, q) array
        Columns with ``Y^T D Y = I``; the first is constant.
    """

    values: FloatArray
    vectors: FloatArray


def laplacian_eigenmaps(graph: Graph, n_vectors: int) -> Eigenmaps:
    """Compute at least `n_vectors` eigenvectors, or all n where there are fewer.

    LOBPCG is a block method, which finds eigenvalues of any multiplicity: each piece of a
    disconnected graph has an eigenvalue 0, and pieces that are alike have all in common. (A Lanczos
    method such as ARPACK misses copies.)
    """
    if n_vectors < 1:
        raise InvalidInputError(f"at least one eigenvector must be asked for, got {n_vectors}")
    n_blocks = -(-n_vectors // BLOCK_VECTORS)
    wanted = min(n_blocks * BLOCK_VECTORS, graph.n_nodes)
    S = _normalised_laplacian(graph)
    is_small = graph.n_nodes < 10 * (wanted + _SPARE_VECTORS)
    if not is_small:
        import scipy.sparse.linalg  # noqa: F401  so that the block below limits it
    with one_blas_thread():
        # The constant solution is known, D^1/2 1 here. It is kept apart, as a graph that falls
        # into pieces has more with eigenvalue 0, with any of which a solver might mix it.
        constant = np.sqrt(graph.degrees)[:, None]
        constant /= np.linalg.norm(constant)
        if is_small:
            # Beyond all eigenvalues, which are at most 2, it comes last.
            values, vectors = np.linalg.eigh(S.toarray() + 3 * constant * constant.T)
        else:
            values, vectors = _lobpcg(S, constant, wanted - 1 + _SPARE_VECTORS)
    values = np.concatenate([[0.0], np.maximum(values[: wanted - 1], 0)])
    vectors = np.concatenate([constant, vectors[:, : wanted - 1]], axis=1)
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(wanted)])
    return Eigenmaps(values, vectors * signs / np.sqrt(graph.degrees)[:, None])


def spectral_coordinates(eigenmaps: Eigenmaps, n_dims: int) -> FloatArray:
    """Coordinates of spectral clustering, (n, d): the eigenvectors 2 to d + 1.

    Fewer where there are not so many; the constant one where there is no other.
    """
    return eigenmaps.vectors[:, _after_the_constant(eigenmaps, n_dims)]


def weighted_coordinates(eigenmaps: Eigenmaps, n_dims: int) -> FloatArray:
    """Coordinates of weighted spectral clustering: divided by the eigenvalues' square roots."""
    values = eigenmaps.values[_after_the_constant(eigenmaps, n_dims)]
    floor = SMALLEST_EIGENVALUE * values.max(initial=0.0)
    return spectral_coordinates(eigenmaps, n_dims) / np.sqrt(np.maximum(values, floor or 1.0))


def _after_the_constant(eigenmaps: Eigenmaps, n_dims: int) -> slice:
    return slice(min(1, len(eigenmaps.values) - 1), n_dims + 1)


def discretise(vectors: FloatArray, rng: np.random.Generator) -> NDArray[np.int32]:
    """Cluster as normalised cuts do: rotate the eigenvectors until they are nearly indicators.

    S. X. Yu and J. Shi, Multiclass spectral clustering, ICCV 2003.

    Parameters
    ----------
    vectors : (n, k) array
        The first k eigenvectors of (L, D).
    rng : Generator
        Chooses the first row to start from.

    Returns
    -------
    (n,) int32 array
        Labels below k, some of which may be unused.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    X = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    k = X.shape[1]
    rotation = _spread_rows(X, rng)
    old = -np.inf
    for _ in range(_MAX_ITERATIONS):
        labels = (X @ rotation).argmax(axis=1)
        sums = np.stack([np.bincount(labels, column, k) for column in X.T], axis=1)
        U, strengths, Vt = np.linalg.svd(sums)  # of indicators^T X
        if strengths.sum() - old <= 1e-10 * len(X):
            break
        old = strengths.sum()
        rotation = Vt.T @ U.T
    return np.asarray(labels, dtype=np.int32)


def _spread_rows(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Choose k rows of X, each as orthogonal to those before as can be, as columns (k, k)."""
    chosen = [int(rng.integers(len(X)))]
    likeness = np.zeros(len(X))
    while len(chosen) < X.shape[1]:
        likeness += np.abs(X @ X[chosen[-1]])
        chosen.append(int(likeness.argmin()))
    return X[chosen].T


def _normalised_laplacian(graph: Graph) -> csc_array:
    """D^-1/2 L D^-1/2, (n, n); a node without edges has eigenvalue 0, like any other piece."""
    from scipy.sparse import diags_array

    scale = diags_array(1 / np.sqrt(graph.degrees))
    sums = np.asarray(graph.W.sum(axis=1)).ravel()
    return (scale @ (diags_array(sums) - graph.W) @ scale).tocsc()


def _lobpcg(S: csc_array, constant: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Compute eigenvectors orthogonal to the constant one, (n, 1)."""
    import warnings

    from scipy.sparse import eye_array
    from scipy.sparse.linalg import LinearOperator, lobpcg, splu

    n = S.shape[0]
    factor = splu(
        (S + _SHIFT * eye_array(n)).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    preconditioner = LinearOperator((n, n), matvec=factor.solve, matmat=factor.solve, dtype="f8")
    start = np.random.default_rng(0).standard_normal((n, count))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of spare vectors short of the tolerance; checked below
        values, vectors = lobpcg(
            S,
            start,
            M=preconditioner,
            Y=constant,
            tol=RESIDUAL,
            maxiter=_MAX_ITERATIONS,
            largest=False,
        )
    order = np.argsort(values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    wanted = slice(0, count - _SPARE_VECTORS)
    residuals = np.linalg.norm(S @ vectors[:, wanted] - vectors[:, wanted] * values[wanted], axis=0)
    if not residuals.max() <= 10 * RESIDUAL:
        raise SolverError(
            f"the eigenvectors did not converge: residual {residuals.max():.1g} after "
            f"{_MAX_ITERATIONS} iterations, {10 * RESIDUAL:.1g} expected; raise {argument('sigma')}"
        )
    return values, vectors
