"""The small image that is embedded, as the graph and the start see it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import number_array
from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.image.colour import Lab
from pfeseg.image.masks import Mask

Texture = NDArray[np.floating[Any]] | None


class SmallImage:
    """An image of h w pixels, of which n belong to it: all, unless it has a mask.

    Parameters
    ----------
    raster : Raster
    texture : (h, w, c) array, callable or None
        Such as the local contrast, in units of CIELAB; or what makes it, as it takes time and
        not every stage looks at it.
    """

    def __init__(self, raster: Raster, texture: Texture | Callable[[], Texture] = None) -> None:
        self.raster, self._texture = raster, texture

    @classmethod
    def of(cls, image: ImageLike, texture: Texture = None) -> SmallImage:
        """Check an image and its texture."""
        raster = as_raster(image)
        if texture is not None:
            texture = number_array(texture, "texture")
            good = texture.ndim == 3 and texture.shape[:2] == raster.shape
            if not good or not np.isfinite(texture).all():
                raise InvalidInputError(
                    f"texture must hold finite numbers and have shape ({raster.shape[0]}, "
                    f"{raster.shape[1]}, c), as the image, got {texture.shape}"
                )
        return cls(raster, texture)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.raster.shape

    @property
    def mask(self) -> Mask | None:
        """Which pixels belong to the image, (h, w), if not all do."""
        return self.raster.mask

    @property
    def n_pixels(self) -> int:
        """Number of these."""
        height, width = self.shape
        return height * width if self.mask is None else int(self.mask.sum())

    def rows(self, image: NDArray[Any]) -> NDArray[Any]:
        """Return what an image of this size, (h, w, c), holds of each pixel, (n, c)."""
        if self.mask is None:
            return image.reshape(-1, *image.shape[2:])
        return np.asarray(image[self.mask])

    @cached_property
    def texture(self) -> Texture:
        """Channels beside the colours, (h, w, c), if there are any."""
        return self._texture() if callable(self._texture) else self._texture

    @cached_property
    def features(self) -> NDArray[np.float64]:
        """RGB in [0, 1], or components of bands, (h, w, c)."""
        return self.raster.features()

    @cached_property
    def lab(self) -> Lab:
        """CIELAB, or components of bands in its units, (h, w, c)."""
        return self.raster.lab()

    @cached_property
    def lab_and_texture(self) -> NDArray[np.floating[Any]]:
        """CIELAB with the channels of texture, if there are any, (h, w, ...)."""
        if self.texture is None:
            return self.lab
        return np.concatenate([self.lab, self.texture], axis=2)
