"""Measure pages of results in a browser: 5,000 small images, and a photograph of 12 megapixels.

Needs Debian's chromium and chromium-driver, and selenium. Prints sizes, seconds and megabytes.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np
from measuring import ROOT, SAMPLES

from pfeseg.image.resize import enlarge_labels

COMMAND = ROOT / ".venv" / "bin" / "pfeseg"

CLOCK = """
const done = arguments[arguments.length - 1];
const start = performance.now();
const end = () => done(performance.now() - start);
(async () => { ARGUMENT })().then(() => requestAnimationFrame(() => setTimeout(end)));
"""
"""Milliseconds from a change until it is painted."""


@contextmanager
def opened() -> Iterator[Any]:
    """Start a browser."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "window-size=1400,900"):
        options.add_argument(f"--{flag}")
    options.binary_location = str(shutil.which("chromium"))
    driver = webdriver.Chrome(options, webdriver.ChromeService(str(shutil.which("chromedriver"))))
    try:
        yield driver
    finally:
        driver.quit()


def main() -> None:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=5000, metavar="N")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, opened() as driver:
        folder = Path(name)
        (folder / "many").mkdir()
        measure_many(driver, folder / "many", chosen.images)
        measure_large(driver, folder / "large.jpg")


def measure_many(driver: Any, folder: Path, n_images: int) -> None:
    """Measure the page of a batch of many tiny images."""
    iio.imwrite(folder / "tiny.png", iio.imread(SAMPLES / "scene.png")[::4, ::4])
    subprocess.run([COMMAND, "segment", folder / "tiny.png", "-q", "--report"], check=True)
    for k in range(n_images - 1):
        for ending in (".json", "_labels.png", "_page.npz"):
            shutil.copy(folder / f"tiny{ending}", folder / f"image {k * 7919 % n_images}{ending}")
    started = time.perf_counter()
    subprocess.run([COMMAND, "report", folder, "--overwrite", "--jobs", "2", "-q"], check=True)
    tell(f"pfeseg report on {n_images} images", time.perf_counter() - started, "s")
    page = folder / "report.html"
    tell("the page", page.stat().st_size / 1e6, "MB")
    beside = [path.stat().st_size for path in (folder / "report_files").iterdir()]
    tell(f"{len(beside)} files beside it", sum(beside) / 1e6, "MB")
    started = time.perf_counter()
    driver.get(page.as_uri())
    tell("opened, the grid there", time.perf_counter() - started, "s")
    paint = driver.execute_script(
        "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    )
    tell("first paint", (paint or float("nan")) / 1e3, "s")
    changed(driver, "table in the place of the grid", "document.getElementById('as-table').click()")
    for key in ("size", "regions", "seconds", "status", "name"):
        click = f"""document.querySelector('[data-key="{key}"]').click()"""
        changed(driver, f"table sorted by {key}", click)
    changed(driver, "filtered by name", """
        const field = document.getElementById('filter'); field.value = '99';
        field.dispatchEvent(new Event('input'))""")  # fmt: skip
    changed(driver, "large view of the last", f"location.hash = '#{n_images - 1}'; {await_stage()}")
    tell_memory(driver)


def measure_large(driver: Any, path: Path) -> None:
    """Measure the large view of a photograph of 12 megapixels."""
    photo = iio.imread(SAMPLES / "coffee.jpg")
    large = np.dstack(
        [enlarge_labels(channel, (2828, 4243)) for channel in np.moveaxis(photo, 2, 0)]
    )
    iio.imwrite(path, large.astype(np.uint8))
    subprocess.run([COMMAND, "segment", path, "-q", "--report"], check=True)
    page = path.with_name("report.html")
    tell("page of 12 megapixels", page.stat().st_size / 1e6, "MB")
    started = time.perf_counter()
    driver.get(page.as_uri())
    driver.execute_async_script(CLOCK.replace("ARGUMENT", await_stage()))
    tell("opened, the large view there", time.perf_counter() - started, "s")
    step = """const slider = document.getElementById('level'); slider.value = {};
        slider.dispatchEvent(new Event('input'))"""
    last = int(driver.execute_script("return document.getElementById('level').max"))
    for where, value in (("coarse", 3), ("middle", last // 2), ("finest", last)):
        changed(driver, f"slider to another level ({where})", step.format(value))
    point = """document.querySelector('.stage').dispatchEvent(
        new PointerEvent('pointermove', {{ clientX: {}, clientY: {}, pointerType: 'mouse' }}))"""
    for x, y in ((300, 300), (500, 400), (700, 500)):
        changed(driver, "another region lights up", point.format(x, y))
    tell_memory(driver)


def await_stage() -> str:
    """Return a script that waits for the picture of a large view."""
    return (
        "while (!document.querySelector('.stage')) await new Promise(next => setTimeout(next, 5));"
    )


def changed(driver: Any, what: str, script: str) -> None:
    """Tell how long a change takes until it is painted."""
    tell(what, driver.execute_async_script(CLOCK.replace("ARGUMENT", script)) / 1e3, "s")


def tell_memory(driver: Any) -> None:
    """Tell what the scripts of the page hold."""
    driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    used = driver.execute_cdp_cmd("Runtime.getHeapUsage", {})
    tell("memory of its scripts", used["usedSize"] / 1e6, "MB")
    if "backingStorageSize" in used:
        tell("memory of its arrays and pictures", used["backingStorageSize"] / 1e6, "MB")


def tell(what: str, value: float, unit: str) -> None:
    """Print one figure."""
    print(f"{what:50} {value:9.3f} {unit}", flush=True)


if __name__ == "__main__":
    main()
