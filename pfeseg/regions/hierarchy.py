"""A hierarchy of regions: nested segmentations, cut at any level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.checks import (
    MAX_REGIONS,
    positive_number,
    real_number,
    shown,
    small_labels,
    whole_number,
)
from pfeseg.errors import InvalidInputError, argument
from pfeseg.labels.maps import consecutive, count_pixels, labels_of, split_inside, touching
from pfeseg.regions.merges import APART, merge_levels, owners_after, smaller_sides

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Labels = NDArray[np.int32]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """Nested segmentations of an image.

    Attributes
    ----------
    base : (H, W) int32 array
        The finest segmentation; connected regions 0 ... n - 1.
    merges : (n - 1, 2) int32 array
        Regions (kept, absorbed) in the order of merging.
    levels : (n - 1,) array
        At which they merge; in [0, 1), never falling.
    outside : int or None
        The region of the base that does not belong to the image, if it has a mask. Segmentations
        have 0 there, and their regions count from 1. It merges last, at level `APART`, as do
        parts of the image that it keeps apart.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> base = np.array([[0, 0, 1, 1, 2]], np.int32)
    >>> tree = pfeseg.Hierarchy(base, np.array([[0, 1], [0, 2]], np.int32), np.array([0.2, 0.7]))
    >>> tree
    <Hierarchy of 5 x 1 pixels: 3 finest regions>
    >>> tree.cut(0.5)
    array([[0, 0, 0, 0, 1]], dtype=int32)
    >>> tree.with_regions(2)
    array([[0, 0, 0, 0, 1]], dtype=int32)
    >>> tree.grouped(2)
    array([0, 0, 1], dtype=int32)
    >>> tree.pruned(0.5).n_regions, tree.next_steps(2), tree.n_apart
    (2, [1, 3], 1)
    >>> tree.contour_map()[1]  # along the row of pixels
    array([0. , 0. , 0. , 0. , 0.2, 0. , 0. , 0. , 0.7, 0. , 0. ],
          dtype=float32)
    >>> tree.absorb_splinters(base, 2)
    array([[0, 0, 1, 1, 1]], dtype=int32)
    >>> tree.resized(np.array([[0, 2]])).levels  # where region 1 is missing
    array([0.7])
    >>> tree.plot().get_xlabel()
    'level'
    """

    base: Labels
    merges: NDArray[np.int32]
    levels: FloatArray
    outside: int | None = None

    def __repr__(self) -> str:
        height, width = self.base.shape
        return f"<Hierarchy of {width} x {height} pixels: {self.n_regions} finest regions>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the number of regions at each level with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InvalidInputError
            If `ax` is something else, or matplotlib is not installed.
        """
        from pfeseg.plotting import new_axes

        axes = new_axes(ax)
        counts = self.n_regions - np.arange(len(self.levels) + 1)
        axes.step([0.0, *self.levels], counts, where="post")
        axes.set_yscale("log")
        axes.set_xlabel("level")
        axes.set_ylabel("regions")
        return axes

    @property
    def n_regions(self) -> int:
        """Number of the finest regions, without that which is outside."""
        return len(self.merges) + (self.outside is None)

    @property
    def n_apart(self) -> int:
        """Fewest regions that there are where none joins what the mask keeps apart."""
        if self.outside is None:
            return 1
        return int((self.levels >= APART).sum())

    def cut(self, level: float) -> Labels:
        """Return the segmentation in which all regions that merge up to a level are one.

        Parameters
        ----------
        level : float
            From 0 for the finest regions to 1 for a single one.

        Returns
        -------
        (H, W) int32 array
            Labels 0, 1, ... in order of first appearance.

        Raises
        ------
        InvalidInputError
            If the level does not lie between 0 and 1.
        """
        return self._after(self._merges_at(level))[self.base]

    def with_regions(self, n_regions: int) -> Labels:
        """Return the segmentation into so many regions, or into all there are if they are fewer.

        Parameters
        ----------
        n_regions : int
            At least 1.

        Returns
        -------
        (H, W) int32 array
            Labels 0, 1, ... in order of first appearance.

        Raises
        ------
        InvalidInputError
            If the number is not a whole one of at least 1.
        """
        return self.grouped(n_regions)[self.base]

    def grouped(self, n_regions: int) -> Labels:
        """Return the region of `with_regions` that each region of the base belongs to.

        Parameters
        ----------
        n_regions : int
            At least 1.

        Returns
        -------
        (n,) int32 array

        Raises
        ------
        InvalidInputError
            If the number is not a whole one of at least 1.
        """
        n_regions = whole_number("n_regions", n_regions, 1, MAX_REGIONS)
        if self.outside is not None:
            n_regions = max(n_regions, self.n_apart) + 1
        return self._after(max(0, len(self.merges) + 1 - n_regions))

    def pruned(self, level: float) -> Hierarchy:
        """Return the hierarchy whose finest segmentation is `cut` at a level.

        Parameters
        ----------
        level : float
            From 0 to 1.

        Returns
        -------
        Hierarchy

        Raises
        ------
        InvalidInputError
            If the level does not lie between 0 and 1.
        """
        n_merges = self._merges_at(level)
        number = self._after(n_merges)
        outside = None if self.outside is None else 0
        merges = number[self.merges[n_merges:]]
        return Hierarchy(number[self.base], merges, self.levels[n_merges:], outside)

    def next_steps(self, n_regions: int) -> list[int]:
        """List up to two other numbers of regions to look at, one smaller and one larger.

        Numbers from half of `n_regions` to twice as many are compared. On each side, the one
        that lasts longest is taken: whose regions stay the same for the widest range of levels.

        Parameters
        ----------
        n_regions : int
            Number of regions to begin with.

        Returns
        -------
        list of int
            Ascending; empty where there is no other.

        Raises
        ------
        InvalidInputError
            If the number is not a whole one of at least 1.
        """
        n_regions = whole_number("n_regions", n_regions, 1, MAX_REGIONS)
        masked = self.outside is not None
        counts = len(self.merges) + 1 - masked - np.arange(len(self.merges) + 1)
        lasts = np.diff(np.concatenate([[0.0], self.levels, [1.0]]))
        steps = []
        for low, high in ((-(-n_regions // 2), n_regions - 1), (n_regions + 1, 2 * n_regions)):
            near = np.flatnonzero((counts >= max(low, self.n_apart)) & (counts <= high))
            if len(near):
                steps.append(int(counts[near[lasts[near].argmax()]]))
        return steps

    def resized(self, base: Labels) -> Hierarchy:
        """Return the hierarchy of the same contours on a base of another size.

        Regions may be missing there, or touch others than before. Regions merge only where they
        touch, at the level of the boundary between them, so that all cuts stay connected.

        Parameters
        ----------
        base : (h, w) integer array
            The regions of this hierarchy, at another size.

        Returns
        -------
        Hierarchy
            Of h w pixels.

        Raises
        ------
        InvalidInputError
            For what is no label map, or holds regions that this hierarchy does not have.
        """
        base = self._checked_base(base)
        if np.array_equal(base, self.base):
            return self
        pieces, owners = self._split_by_outside(base)
        pairs = touching(pieces)
        levels = self._merge_levels(owners[pairs[:, 0]], owners[pairs[:, 1]])
        renumbered = consecutive(pieces)
        number = labels_of(pieces, renumbered)
        order = np.argsort(levels, kind="stable")
        merges, which = kernels.join_pairs(number[pairs[order]], int(renumbered.max()) + 1)
        outside = None
        if self.outside is not None and (owners == self.outside).any():
            outside = int(number[owners == self.outside][0])
        return Hierarchy(renumbered, merges, levels[order[which]], outside)

    def _split_by_outside(self, base: Labels) -> tuple[Labels, NDArray[np.int32]]:
        """Find the pieces of each region that a mask keeps apart, and whose each is."""
        if self.outside is None:
            return base, np.arange(int(base.max()) + 1, dtype=np.int32)
        return split_inside(base, base != self.outside, self.outside)

    def absorb_splinters(self, base: Labels, smallest: float) -> Labels:
        """Let the regions of a base that are too small join others, across their weakest sides.

        Parameters
        ----------
        base : (H, W) integer array
            The regions of the hierarchy, of any size; some may be missing.
        smallest : float
            Regions of fewer pixels join that touching one from which they part at the lowest
            level, again and again until none is left, but for what touches none inside a mask.

        Returns
        -------
        (H, W) int32 array
            What was joined has the label of its largest region.

        Raises
        ------
        InvalidInputError
            For what is no label map, or holds regions that this hierarchy does not have.
        """
        base = self._checked_base(base)
        smallest = positive_number("smallest", smallest, or_zero=True)
        sizes = count_pixels(base)
        if not ((sizes > 0) & (sizes < smallest)).any():
            return base
        pairs = touching(base)
        if self.outside is not None:
            pairs = pairs[(pairs != self.outside).all(axis=1)]
        order = np.argsort(self._merge_levels(pairs[:, 0], pairs[:, 1]), kind="stable")
        merges, which = kernels.join_pairs(pairs[order], len(sizes))
        # The weakest side of a region that is too small is one of these, and there one of the two
        # that merge is within that region: so all merges of so little are all that is needed.
        little = smaller_sides(merges, sizes) < smallest
        joins, _ = kernels.join_pairs(pairs[order[which[little]]], len(sizes))
        owner = owners_after(joins, len(sizes))
        by_size = np.argsort(sizes, kind="stable").astype(np.int32)
        largest = np.empty(len(sizes), dtype=np.int32)
        largest[owner[by_size]] = by_size  # of several values, the last stays
        return largest[owner][base]

    def contour_map(self) -> NDArray[np.float32]:
        """Return the level at which each boundary vanishes, as an ultrametric contour map.

        Returns
        -------
        (2 H + 1, 2 W + 1) array
            Pixels at odd places, between them their sides; the layout of the BSDS benchmark's
            'ucm2'.
        """
        height, width = self.base.shape
        levels = np.zeros((2 * height + 1, 2 * width + 1), dtype=np.float32)
        right, down = self.base[:, :-1] != self.base[:, 1:], self.base[:-1] != self.base[1:]
        levels[1:-1:2, 2:-1:2][right] = self._merge_levels(
            self.base[:, :-1][right], self.base[:, 1:][right]
        )
        levels[2:-1:2, 1:-1:2][down] = self._merge_levels(self.base[:-1][down], self.base[1:][down])
        # A corner is as strong as the strongest side that ends in it, or regions would leak.
        corners, across, along = levels[::2, ::2], levels[::2, 1::2], levels[1::2, ::2]
        for ends, sides in (
            (corners[:, :-1], across),
            (corners[:, 1:], across),
            (corners[:-1], along),
            (corners[1:], along),
        ):
            np.maximum(ends, sides, out=ends)
        return levels

    def _checked_base(self, base: Labels) -> Labels:
        """Check a base that is to be in the place of that of this hierarchy."""
        base = small_labels(base, "the base")
        if base.max() > len(self.merges):
            raise InvalidInputError(
                f"the base must hold regions 0 to {len(self.merges)} of the hierarchy, found "
                f"{base.max()}"
            )
        return base

    def _merges_at(self, level: float) -> int:
        """Return how many merges there are at a level and below."""
        number = real_number(level)
        if not 0 <= number <= 1:
            raise InvalidInputError(
                f"{argument('level')} must lie between 0 and 1, got {shown(level)}"
            )
        return int(np.searchsorted(self.levels, number, side="right"))

    def _after(self, n_merges: int) -> Labels:
        """Return the region that each region of the base belongs to after so many merges, (n,)."""
        owners = owners_after(self.merges[:n_merges], len(self.merges) + 1)
        if self.outside is None:
            return consecutive(owners)
        inside = np.arange(len(owners)) != self.outside
        numbers = np.zeros(len(owners), dtype=np.int32)
        numbers[inside] = consecutive(owners[inside]) + 1
        return numbers

    def _merge_levels(
        self, first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]
    ) -> FloatArray:
        return merge_levels(self.merges, self.levels, first, second)
