"""The options that are settings: their help, and the settings that they make together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from pfeseg.cli.help import F, Heading, option
from pfeseg.cli.values import number_or, pixels_or_percent, radius_or_neighbours, rms_or_number
from pfeseg.cli.wording import usage_errors
from pfeseg.errors import InvalidInputError, argument
from pfeseg.pixels.options import ASSIGNMENTS, FEATURES
from pfeseg.segmentation.cuts import CLUSTERED, DEFAULT_LEVEL, Clusters, Cut, Level
from pfeseg.segmentation.methods import LEVELS_SINCE, METHODS
from pfeseg.segmentation.settings import PRESETS, USUAL_DIMS, Settings, choose_settings
from pfeseg.solver.settings import LINEAR_SOLVERS, PRECISIONS, PRECONDITIONERS

CUT_OPTIONS = ("n_clusters", "n_regions", "level")
"""Options that say how labels are cut, at most one of which may be given."""


@dataclass(frozen=True)
class _SettingOption:
    """An option for a field of `Settings` or of `SolverSettings`, or for the cut.

    `stages` are the commands that have it beside 'segment'; `show` writes a value for help.
    """

    stages: tuple[str, ...]
    names: tuple[str, ...]
    heading: Heading
    help: str
    attributes: dict[str, Any]
    show: Callable[[Any], str]

    @property
    def parameter(self) -> str:
        return self.names[-1].removeprefix("--").replace("-", "_")

    def add_to(self, command: F) -> F:
        """Add the option to a command."""
        text = f"{self.help}  [{self._defaults()}]"
        return option(*self.names, heading=self.heading, help=text, **self.attributes)(command)

    def _defaults(self) -> str:
        """Tell the value in the preset "default", and in those that differ from it."""
        values = {name: self.show(_value(known, self.parameter)) for name, known in PRESETS.items()}
        usual = values.pop("default")
        differing: dict[str, list[str]] = {}
        for name, value in values.items():
            if value != usual:
                differing.setdefault(value, []).append(name)
        parts = [f"preset {' and '.join(names)}: {value}" for value, names in differing.items()]
        return "; ".join([f"default: {usual}", *parts])


def _value(settings: Settings, parameter: str) -> Any:
    if parameter in CUT_OPTIONS:
        return settings.cut
    owner = settings if hasattr(settings, parameter) else settings.solver
    return getattr(owner, parameter)


def _show(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _setting(
    stages: str,
    *names: str,
    heading: Heading,
    help: str,
    show: Callable[[Any], str] = _show,
    **attributes: Any,
) -> _SettingOption:
    return _SettingOption(tuple(stages.split()), names, heading, help, attributes, show)


_SETTINGS = (
    _setting("init", "-d", "--dims", "n_dims", heading=Heading.CUT, type=number_or("auto"),
             metavar="D|auto", help="Dimension of the embedding; auto chooses it as 'sweep' does.",
             show=lambda dims: str(dims) if dims != "usual"
             else f"{USUAL_DIMS}, or fewer in an image of fewer pixels"),
    _setting("cluster", "-k", "--segments", "n_clusters", heading=Heading.CUT,
             type=number_or("auto", "dims"), metavar="K|auto|dims",
             help="Group regions that look alike into K clusters; auto chooses K as 'sweep' does, "
                  "and dims makes as many as the embedding has dimensions.",
             show=lambda cut: str(cut.n_clusters) if isinstance(cut, Clusters) else "none"),
    _setting("cluster", "--cluster", heading=Heading.CUT, type=click.Choice(CLUSTERED),
             help="Cluster whole regions, by how they look, or single pixels, by the embedding "
                  "alone, as the paper and all other methods do."),
    _setting("merge", "--regions", "n_regions", heading=Heading.CUT, type=click.IntRange(min=1),
             metavar="N",
             help="Cut into this many regions, or into the finest ones if these are fewer.",
             show=lambda cut: "chosen by --level"),
    _setting("merge", "--level", "level", heading=Heading.CUT, type=click.FloatRange(0, 1),
             metavar="T",
             help="Keep the boundaries that at least this share of people would draw: 0 keeps the "
                  "finest regions, 1 merges all.",
             show=lambda cut: f"{DEFAULT_LEVEL:g}"),
    _setting("clean", "--min-region", heading=Heading.CUT, type=pixels_or_percent,
             metavar="PIXELS|PERCENT%",
             help="Split the labels into connected regions, and merge each one smaller than this "
                  "(such as 200 or 0.5%) into the neighbour with the most similar colour.",
             show=lambda value: _show(value) if value else "off"),
    _setting("", "--method", heading=Heading.CUT, type=click.Choice(list(METHODS)),
             help="Piecewise flat embedding (PFE), or a method to compare it with: "
                  + ", ".join(m.title for name, m in METHODS.items() if name != "pfe") + "."),
    _setting("cluster merge", "--refine/--no-refine", "refine", heading=Heading.CUT, default=None,
             help="Redraw boundaries along the edges of the full-size image, or leave them as "
                  "coarse as the image that was solved.",
             show=lambda value: "refine" if value else "no-refine"),
    _setting("graph init cluster merge", "--seed", heading=Heading.START,
             type=click.IntRange(0, 2**32 - 1), metavar="N",
             help="Random seed, for the colour classes, the mixture and k-means."),
    _setting("downsample", "--downsample", heading=Heading.METHOD, type=click.FloatRange(min=1),
             metavar="FACTOR", help="Shrink each side by this factor before solving."),
    _setting("downsample", "--max-size", heading=Heading.METHOD, type=click.IntRange(min=1),
             metavar="PIXELS",
             help="Shrink further, until the longer side has at most this many pixels.",
             show=lambda value: str(value or "no limit")),
    _setting("graph", "--neighbours", heading=Heading.METHOD, type=radius_or_neighbours,
             metavar="4|8|RADIUS", show=repr,
             help="Connect each pixel to 4 or 8 neighbours, or to all within a radius such as "
                  "2.5."),
    _setting("graph", "--features", heading=Heading.METHOD, type=click.Choice(FEATURES),
             help="What edge weights are made from: differences of colour in RGB or CIELAB, or how "
                  "often two colours occur side by side in the image (pmi, pointwise mutual "
                  "information)."),
    _setting("graph", "--sigma", heading=Heading.METHOD, type=rms_or_number,
             metavar="[X]rms|NUMBER",
             help="Colour difference at which edge weights become small (rgb and lab): a number, "
                  "or a multiple of the image's root mean square difference, such as 0.8rms."),
    _setting("graph init", "--texture", heading=Heading.METHOD, type=click.FloatRange(min=0),
             metavar="WEIGHT",
             help="How much local contrast counts beside CIELAB colour, in the mutual information "
                  "and in the mixture; with 0, the mixture is one of RGB colours alone."),
    _setting("init", "--assignment", heading=Heading.METHOD, type=click.Choice(ASSIGNMENTS),
             help="Start from each pixel's likeliest component of the mixture (hard), or from the "
                  "probabilities of all components (soft)."),
    _setting("embed", "--lam", heading=Heading.SOLVER, type=float, metavar="NUMBER",
             help="Weight of the splitting term in split Bregman."),
    _setting("embed", "--r", heading=Heading.SOLVER, type=float, metavar="NUMBER",
             help="Weight of the fidelity term in Stage I."),
    _setting("embed", "--r-relaxed", heading=Heading.SOLVER, type=float, metavar="NUMBER",
             help="Weight of the fidelity term in Stage II."),
    _setting("embed", "--soc-iterations", heading=Heading.SOLVER, type=int, metavar="N",
             help="Maximum number of iterations of the outer loop of Stage I."),
    _setting("embed", "--split-iterations", heading=Heading.SOLVER, type=int, metavar="N",
             help="Maximum number of iterations of the inner loop of Stage I."),
    _setting("embed", "--relaxed-iterations", heading=Heading.SOLVER, type=int, metavar="N",
             help="Maximum number of iterations of Stage II."),
    _setting("embed", "--tol", heading=Heading.SOLVER, type=float, metavar="NUMBER",
             help="Relative change at which a loop stops.", show=lambda value: f"{value:.2g}"),
    _setting("embed", "--linear-solver", heading=Heading.SOLVER,
             type=click.Choice(LINEAR_SOLVERS),
             help="Use the compiled solver (pcg), or the exact reference in SciPy (direct)."),
    _setting("embed", "--preconditioner", heading=Heading.SOLVER,
             type=click.Choice(PRECONDITIONERS),
             help="Incomplete Cholesky factorisation (ic0), as in the paper, or a complete one "
                  "(cholesky), which makes every solve exact; auto takes the complete one unless "
                  "it would be too large."),
    _setting("embed", "--pcg-rtol", heading=Heading.SOLVER, type=float, metavar="NUMBER",
             help="Relative residual at which conjugate gradients stop; used with ic0 only."),
    _setting("embed", "--precision", heading=Heading.SOLVER,
             type=click.Choice(PRECISIONS), help="Precision of the compiled solver."),
)  # fmt: skip


def settings_options(*stages: str, without: Sequence[str] = ()) -> Callable[[F], F]:
    """Add the options of some stages, or of all, and ``--preset`` and ``--config``.

    Parameters
    ----------
    stages : str
    without : sequence of str
        Parameters to leave out.
    """

    def add(command: F) -> F:
        for setting in reversed(_SETTINGS):
            wanted = not stages or set(setting.stages) & set(stages)
            if wanted and setting.parameter not in without:
                command = setting.add_to(command)
        command = option(
            "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE", heading=Heading.START,
            help="Start from the settings in the STEM.json of an earlier run.",
        )(command)  # fmt: skip
        return option(
            "--preset", metavar="NAME", heading=Heading.START,
            help=f"Start from these settings: {' or '.join(PRESETS)}. Other options change them."
                 "  [default: default]",
        )(command)  # fmt: skip

    return add


def make_settings(
    preset: str | None,
    config: Path | None,
    *,
    n_clusters: int | str | None = None,
    n_regions: int | None = None,
    level: float | None = None,
    **changes: Any,
) -> Settings:
    """Make settings of the values of `settings_options`; None changes nothing."""
    if preset and config:
        raise click.UsageError("give --preset or --config, not both")
    with usage_errors():
        is_cut = n_clusters is not None or n_regions is not None or level is not None
        base = _read_config(config, is_cut) if config else None
        return choose_settings(
            base, preset, n_clusters=n_clusters, n_regions=n_regions, level=level, **changes
        )


def completed(
    settings: Settings, stored: Mapping[str, Any], options: Mapping[str, Any]
) -> Settings:
    """Take what options left out as the stages before had it, as in one run of all stages.

    With ``--config`` nothing was left out. `stored` are the settings of those stages.
    """
    if options["config"] is not None:
        return settings
    left_out = [name for name in ("seed", "stretch", "bands") if options[name] is None]
    return settings.changed(**{name: stored[name] for name in left_out if name in stored})


def _read_config(path: Path, is_cut: bool) -> Settings:
    """Read the settings of a report; `is_cut` where options say how labels are cut."""
    from pfeseg.files.opening import read_json

    values = read_json(path)
    try:
        stored = values.get("settings", values)
        if not stored:
            raise InvalidInputError("it holds no settings")
        settings = Settings.from_dict(stored)
        if not is_cut:
            _check_level(settings.cut, values)
        return settings
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error.marked}") from error
    except (ValueError, AttributeError, TypeError, OverflowError) as error:
        raise InvalidInputError(f"{path}: no settings in JSON ({error})") from error


def _check_level(cut: Cut, report: dict[str, Any]) -> None:
    """Refuse a level of a report of a version in which it meant another cut."""
    same = (0.0, DEFAULT_LEVEL, 1.0)
    if not isinstance(cut, Level) or cut.level in same or "pfeseg_version" not in report:
        return
    if report.get("method_version", 0) < LEVELS_SINCE:
        raise InvalidInputError(
            f"its level {cut.level:g} is of an earlier version, where levels meant other cuts; "
            f"give {argument('level')}, {argument('n_regions')} or {argument('n_clusters')} too"
        )


def option_words(settings: Settings) -> list[str]:
    """Return options that make settings, but for dimension and cut: a preset, and what differs."""
    candidates = [
        ["--preset", name, *_differences(settings, preset)] for name, preset in PRESETS.items()
    ]
    words = min(candidates, key=len)
    return words[2:] if words[1] == "default" else words


def _differences(settings: Settings, preset: Settings) -> list[str]:
    words: list[str] = []
    for setting in _SETTINGS:
        if setting.parameter in ("n_dims", *CUT_OPTIONS):
            continue
        value = _value(settings, setting.parameter)
        if value == _value(preset, setting.parameter):
            continue
        if setting.parameter == "refine":
            words.append("--refine" if value else "--no-refine")
        elif setting.parameter == "min_region" and 0 < value < 1:
            words += ["--min-region", f"{100 * value:.10g}%"]
        else:
            words += [setting.names[-1], str(value)]
    for name in ("stretch", "bands"):
        if getattr(settings, name) != getattr(preset, name):
            words += [f"--{name}", getattr(settings, name)]
    return words
