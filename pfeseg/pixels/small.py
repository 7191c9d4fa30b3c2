"""The small image that is embedded, as the graph and the start see it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import ImageLike, as_rgb
from pfeseg.image.colour import Lab, to_lab

Texture = NDArray[np.floating[Any]] | None


class SmallImage:
    """An image of h w = n pixels.

    Parameters
    ----------
    rgb : (h, w, 3) array
        In [0, 1].
    texture : (h, w, c) array, callable or None
        Such as the local contrast, in units of CIELAB; or what makes it, as it takes time and
        not every stage looks at it.
    """

    def __init__(
        self, rgb: NDArray[np.float64], texture: Texture | Callable[[], Texture] = None
    ) -> None:
        self.rgb, self._texture = rgb, texture

    @classmethod
    def of(cls, image: ImageLike, texture: Texture = None) -> SmallImage:
        """Check an image and its texture."""
        rgb = as_rgb(image)
        if texture is not None:
            texture = np.asarray(texture)
            good = texture.ndim == 3 and texture.shape[:2] == rgb.shape[:2]
            if not good or not np.isfinite(texture).all():
                raise InvalidInputError(
                    f"texture must hold finite numbers and have shape ({rgb.shape[0]}, "
                    f"{rgb.shape[1]}, c), as the image, got {texture.shape}"
                )
        return cls(rgb, texture)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.rgb.shape[0], self.rgb.shape[1]

    @cached_property
    def texture(self) -> Texture:
        """Channels beside the colours, (h, w, c), if there are any."""
        return self._texture() if callable(self._texture) else self._texture

    @cached_property
    def lab(self) -> Lab:
        """CIELAB, (h, w, 3)."""
        return to_lab(self.rgb)

    @cached_property
    def lab_and_texture(self) -> NDArray[np.floating[Any]]:
        """CIELAB with the channels of texture, if there are any, (h, w, 3 + c)."""
        if self.texture is None:
            return self.lab
        return np.concatenate([self.lab, self.texture], axis=2)
