"""Images as arrays: checked once, at the door."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import ImageWarning, InvalidInputError, argument
from pfeseg.image.bands import Layers, take_bands
from pfeseg.image.colour import Lab, to_lab
from pfeseg.image.foreign import composite_rgba, is_rgba, to_array
from pfeseg.image.georeference import Georeference
from pfeseg.image.masks import Mask, check_mask, fill_outside
from pfeseg.image.options import ALL_BANDS, check_bands, check_stretch, choose_bands
from pfeseg.image.pixel_types import kernel_type
from pfeseg.image.stretch import find_range, refuse_infinite

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Raster:
    """An image as it came, however large: turned into numbers only where these are needed.

    Made by `as_raster`. Every function that takes an image takes one of these too.

    Attributes
    ----------
    values : (h, w, c) array
        Contiguous, of a type that the kernels take: grey or RGB, or principal components.
    black, white : float
        The values that mean no and full brightness; those beyond count as these. They are the
        least and the greatest one where the values are components.
    stretch : str
        How `black` and `white` were found.
    choice : str
        How `bands` were chosen.
    bands : tuple of int
        Which bands of the image are used, counted from 1.
    n_bands : int
        How many it has.
    kind : {"colours", "components"}
        What the values are; see `pfeseg.image.bands`.
    layers : Layers or None
        The bands that components were made of, unless the image was shrunk.
    mask : (h, w) array of bool or None
        Which pixels belong to the image, if not all do.
    georeference : Georeference or None
        Where on earth it lies, as its file told; only what is written knows of it.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> raster = pfeseg.as_raster(np.array([[0, 2000], [1000, 4000]], np.uint16))
    >>> raster.shape, raster.ends
    ((2, 2), (0.0, 4095.0))
    >>> raster.rgb()[0, 1].round(2).tolist()
    [0.49, 0.49, 0.49]
    >>> raster.lab()[0, 1, 0].round().item()
    52.0
    >>> raster.choices
    {'stretch': 'auto', 'bands': 'auto'}

    Bands that are no colours become principal components:

    >>> bands = np.random.default_rng(0).random((6, 8, 5))
    >>> raster = pfeseg.as_raster(bands, bands="all")
    >>> raster.kind, raster.features().shape, raster.measured.shape, raster.picture().shape
    ('components', (6, 8, 5), (6, 8, 5), (6, 8))
    >>> raster.like(bands[:2]).shape
    (2, 8)
    """

    values: NDArray[Any]
    black: float
    white: float
    stretch: str
    choice: str = "auto"
    bands: tuple[int, ...] = (1, 2, 3)
    n_bands: int = 3
    kind: Literal["colours", "components"] = "colours"
    layers: Layers | None = None
    mask: Mask | None = None
    georeference: Georeference | None = None

    def __repr__(self) -> str:
        height, width = self.shape
        what = f"{self.values.dtype}: black {self.black:g}, white {self.white:g}"
        if self.layers is not None:
            what = f"{len(self.bands)} bands"
        return f"<Raster of {width} x {height} pixels, {what}>"

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def choices(self) -> dict[str, str]:
        """The settings with which it was read."""
        return {"stretch": self.stretch, "bands": self.choice}

    @property
    def measured(self) -> NDArray[Any]:
        """The bands that are used, in their own numbers, (h, w, c)."""
        return self.values if self.layers is None else self.layers.values

    @property
    def ends(self) -> tuple[float | list[float], float | list[float]]:
        """Black and white, one for all bands or one for each."""
        if self.layers is None:
            return self.black, self.white
        return self.layers.black.tolist(), self.layers.white.tolist()

    def like(self, array: NDArray[Any], inside: Mask | None = None) -> Raster:
        """Return another part of the same image: stretched and reduced as this one is.

        Parameters
        ----------
        array : (h, w, n_bands) array
            All bands of that part.
        inside : (h, w) array of bool, optional
            Its mask, True somewhere.

        Returns
        -------
        Raster
            Of h w pixels, with the black, the white and the components of this one.

        Raises
        ------
        InvalidInputError
            For a part of another number of bands, or a mask of another size.
        """
        array = to_array(array)
        array = array.reshape(*array.shape[:2], -1)
        if array.shape[2] != self.n_bands:
            raise InvalidInputError(
                f"a part of this image must have its {self.n_bands} bands, got {array.shape[2]}"
            )
        inside = None if inside is None else check_mask(inside, array.shape[:2])
        values = _fill(take_bands(array, self.bands), inside)
        if self.layers is None:
            contiguous = np.ascontiguousarray(values, kernel_type(values, self.black, self.white))
            return replace(self, values=contiguous, mask=inside)
        return _of_components(replace(self, layers=self.layers.like(values), mask=inside))

    def picture(self) -> Raster:
        """Return what is shown of the image: itself, unless its values are no colours.

        Returns
        -------
        Raster
            Of the same size, and grey or RGB.
        """
        if self.layers is None:
            return self
        return Raster(self.layers.picture(), 0.0, 255.0, "none", mask=self.mask)

    def features(self) -> FloatArray:
        """Return what tells pixels apart.

        Returns
        -------
        (h, w, c) float64 array
            RGB in [0, 1], or the components as shares of 100.
        """
        return self.rgb() if self.kind == "colours" else self.values / np.float64(100)

    def lab(self) -> Lab:
        """Return the pixels in units of CIELAB.

        Returns
        -------
        (h, w, c) float32 array
            CIELAB, the lightness first; or the components, first the one that varies most.
        """
        if self.kind == "colours":
            return to_lab(self.rgb())
        return self.values.astype(np.float32, copy=False)

    def rgb(self) -> FloatArray:
        """Return the pixels from black to white as numbers from 0 to 1.

        Returns
        -------
        (h, w, c) float64 array
            In [0, 1]; grey ones have three equal channels.
        """
        unit = np.subtract(self.values, self.black, dtype=np.float64)
        unit /= self.white - self.black
        np.clip(unit, 0.0, 1.0, out=unit)
        return np.repeat(unit, 3, axis=2) if unit.shape[2] == 1 else unit


ImageLike: TypeAlias = "ArrayLike | Picture | Raster"
"""An image from outside, such as an array or an image of Pillow's, or one that was checked."""


def as_raster(
    image: ImageLike,
    stretch: str = "auto",
    bands: str = "auto",
    mask: ArrayLike | None = None,
) -> Raster:
    """Check an image, keep it as it came, and find which of its values are black and white.

    Parameters
    ----------
    image : (h, w) or (h, w, c) array, or image of Pillow's
        Integers, truth values or floats of any size and order of bytes, in an array or in
        anything that NumPy can turn into one. Four bands of 8 bits are red, green, blue and
        opacity, and are put on white, unless `bands` are given. An image of Pillow's is read as
        its file is: turned upright by its EXIF data, transparent pixels put on white, palettes
        and CMYK turned into RGB. A `Raster` stays as it is.
    stretch : str
        "none": black and white are the ends of the type, and floats must lie in [0, 1].
        "minmax": the least and the greatest value are.
        "P:Q", such as "0.1:99.9": these percentiles of the values are.
        "auto": as "none" for 8 bits and for floats in [0, 1]; other images are stretched, as
        `pfeseg.image.stretch` says. Bands that are no colours are stretched one by one.
    bands : str
        Numbers from 1 on, such as "4,3,2", or "all". Three are red, green and blue, one is
        grey, and any other number is reduced to principal components. "auto": the first
        three, with a warning where there are more, or both of two.
    mask : (h, w) array, optional
        Pixels where it is zero do not belong to the image, nor do those that a masked array
        (`numpy.ma`) masks in a band that is used.

    Returns
    -------
    Raster
        Of the same height and width, and of the type of the image if a kernel takes it.

    Raises
    ------
    InvalidInputError
        For what is no image, or is empty, for NaN and infinite values that no mask leaves out, and
        for a stretch, bands or a mask that do not fit.

    Warns
    -----
    ImageWarning
        Where bands are not used, or one is taken for opacity, though nobody said so.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> deep = np.linspace(0, 4095, 12, dtype=np.uint16).reshape(3, 4)
    >>> pfeseg.as_raster(deep)
    <Raster of 4 x 3 pixels, uint16: black 0, white 4095>
    >>> pfeseg.as_raster(deep, stretch="none").white
    65535.0
    """
    if isinstance(image, Raster):
        if mask is not None:
            raise InvalidInputError("a Raster has its mask already; give as_raster the mask")
        return image
    array = to_array(image)
    if not (is_rgba(array) and bands == "auto"):
        return _raster_of(image, array, stretch, bands, mask)
    colours = composite_rgba(array)
    if (array[..., 3] < 255).any():
        warnings.warn(
            f"the fourth of four bands is taken for opacity; {argument('bands', '1,2,3')} leaves "
            f"it out, and {argument('bands', ALL_BANDS)} uses it as a band",
            ImageWarning,
            stacklevel=2,
        )
    return _raster_of(image, colours, stretch, bands, mask)


def pixels_as_raster(
    pixels: NDArray[Any], stretch: str = "auto", bands: str = "auto", mask: ArrayLike | None = None
) -> Raster:
    """Do as `as_raster` with pixels none of which are opacity, as readers of files return them.

    Parameters
    ----------
    pixels : (h, w) or (h, w, c) array
    stretch, bands, mask
        As for `as_raster`.
    """
    return _raster_of(pixels, to_array(pixels), stretch, bands, mask)


def _raster_of(
    image: ImageLike, array: NDArray[Any], stretch: str, bands: str, mask: ArrayLike | None
) -> Raster:
    """Make a raster of the array of an image; the image itself may be a masked array."""
    check_stretch(stretch)
    check_bands(bands)
    values = array.reshape(*array.shape[:2], -1)
    n_bands = values.shape[2]
    used = choose_bands(bands, n_bands)
    if bands == "auto" and n_bands > len(used):
        _warn_of_more_bands(array.shape, used)
    values = take_bands(values, used)
    inside = _find_inside(image, used, mask, values.shape[:2])
    values = _fill(values, inside)
    counted = values if inside is None else values[inside][:, None]
    raster = Raster(values, 0.0, 1.0, stretch, bands, used, n_bands, mask=inside)
    if len(used) not in (1, 3):
        return _of_components(replace(raster, layers=Layers.of(values, stretch, counted)))
    black, white = find_range(counted, stretch)
    contiguous = np.ascontiguousarray(values, kernel_type(values, black, white))
    return replace(raster, values=contiguous, black=black, white=white)


def _warn_of_more_bands(shape: tuple[int, ...], used: tuple[int, ...]) -> None:
    first = shape[0] in (1, 3, 4) and shape[2] > 16
    remedy = "; if they come first, np.moveaxis(image, 0, -1) moves them" if first else ""
    warnings.warn(
        f"{shape[2]} bands, used {','.join(map(str, used))}; {argument('bands', ALL_BANDS)} "
        f"uses all{remedy}",
        ImageWarning,
        stacklevel=4,
    )


def _of_components(raster: Raster) -> Raster:
    """Return a raster whose values are the components of its layers."""
    assert raster.layers is not None
    components = raster.layers.components()
    least, most = float(components.min()), float(components.max())
    most = most if most > least else least + 1.0
    return replace(raster, values=components, black=least, white=most, kind="components")


def _fill(values: NDArray[Any], inside: Mask | None) -> NDArray[Any]:
    """Give what lies outside of a mask, if there is one, values of what lies inside."""
    if inside is None:
        return values
    if values.dtype.kind == "f" and not np.isfinite(values[inside]).all():
        refuse_infinite(np.where(inside[..., None], values, values[inside][0]))
    return fill_outside(values, inside)


def _find_inside(
    image: ImageLike, used: tuple[int, ...], mask: ArrayLike | None, shape: tuple[int, int]
) -> Mask | None:
    """Join the mask that was given with that of a masked array; None if all is inside."""
    inside = None if mask is None else check_mask(mask, shape)
    if isinstance(image, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(image).reshape(*shape, -1)[..., [band - 1 for band in used]]
        known = ~masked.any(axis=2)
        inside = check_mask(known if inside is None else known & inside, shape)
    return inside
