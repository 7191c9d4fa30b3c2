"""Pages of results in a real browser: what moves, what is said, and that nothing leaves them."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import SAMPLES, run, save_truth

from pfeseg.files.labels import read_labels
from pfeseg.files.regions import region_rows

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(
        not (BROWSER and DRIVER),
        reason="no browser: install Debian's chromium and chromium-driver",
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of selenium's own sockets
]

HOSTILE = "<img src=x onerror=alert(1)>'\"&amp; new\nline\u202e.png"


class Page:
    """A browser that shows one page at a time."""

    def __init__(self, downloads: Path) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
            options.add_argument(f"--{flag}")
        options.add_argument("--window-size=1360,1000")
        options.binary_location = str(BROWSER)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(str(DRIVER)))
        self.downloads = downloads
        behaviour = {"behavior": "allow", "downloadPath": str(downloads)}
        self.command("Browser.setDownloadBehavior", behaviour)

    def command(self, name: str, arguments: dict) -> None:
        self.driver.execute_cdp_cmd(name, arguments)

    def open(self, path: Path, fragment: str = "") -> None:
        self.driver.get("about:blank")
        self.driver.get(path.as_uri() + fragment)

    def find(self, selector: str):
        return self.wait(lambda: self.all(selector))[0]

    def all(self, selector: str) -> list:
        return self.driver.find_elements("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.all(selector)]

    def wait(self, ready):
        end = time.monotonic() + 10
        while not (value := ready()):
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.02)
        return value

    def look(self, selector: str = ".stage") -> bytes:
        return self.find(selector).screenshot_as_png

    def slide(self, selector: str, value: int) -> None:
        script = "arguments[0].value = arguments[1];arguments[0].dispatchEvent(new Event('input'))"
        self.driver.execute_script(script, self.find(selector), value)

    def type(self, selector: str, text: str) -> None:
        element = self.find(selector)
        element.send_keys("\ue009a\ue000")  # all of it: Ctrl and A
        element.send_keys(text)

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def point(self, selector: str, x: float, y: float) -> None:
        """Move the mouse to a place in an element, in shares of its width and height."""
        from selenium.webdriver.common.action_chains import ActionChains

        element = self.find(selector)
        dx, dy = ((x - 0.5) * element.size["width"], (y - 0.5) * element.size["height"])
        chain = ActionChains(self.driver)
        chain.move_to_element_with_offset(element, round(dx), round(dy)).perform()

    def wide(self) -> int:
        return self.driver.execute_script("return document.documentElement.scrollWidth")

    def complaints(self) -> list[str]:
        """List what the console says, and all requests that leave the disk."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        for entry in self.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith(("file:", "data:", "blob:", "about:")):
                    said.append(url)
        return said


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Page]:
    page = Page(tmp_path_factory.mktemp("downloads"))
    yield page
    page.driver.quit()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """Lend the browser, and look afterwards whether anything went wrong in it."""
    yield browser
    browser.command("Emulation.clearDeviceMetricsOverride", {})
    browser.command("Emulation.setEmulatedMedia", {"features": []})
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def batch(tmp_path_factory) -> Path:
    """Segment a few images, one of which is broken."""
    folder = tmp_path_factory.mktemp("batch")
    photos = folder / "photos"
    photos.mkdir()
    shutil.copy(SAMPLES / "scene.png", photos)
    chelsea = iio.imread(SAMPLES / "chelsea.jpg")
    iio.imwrite(photos / "cat.png", chelsea)
    iio.imwrite(photos / HOSTILE.replace("/", ""), chelsea[:120, :160])
    (photos / "broken.png").write_bytes(b"no image")
    result = run("segment", photos, "-o", folder / "out", "--report")
    assert result.exit_code == 1, result.stderr
    return folder / "out" / "report.html"


def index_of(page: Page, name: str) -> str:
    (link,) = [link for link in page.all("a.tile") if name in link.text]
    return "#" + link.get_attribute("href").rpartition("#")[2]


def open_image(page: Page, path: Path, name: str) -> None:
    page.open(path)
    page.find("a.tile")
    page.open(path, index_of(page, name))
    page.find(".stage")


def test_failures_come_first_and_hostile_names_are_text(page, batch):
    page.open(batch)
    page.find("a.tile")
    first = page.find("main > div > *")
    assert first.get_attribute("class") == "failures"
    page.find("#as-table").click()
    page.find('th button[data-key="status"]').click()
    assert "not an image" in page.find("tbody tr:first-child").text
    page.find("#as-grid").click()
    assert "broken.png: not an image that can be read" in first.text
    assert len(page.all(".tile")) == 4
    names = page.texts(".tile .name")
    assert "<img src=x onerror=alert(1)>'\"&amp; new\\x0aline\\u202e" in names
    assert page.all("img[src=x]") == []


def test_the_grid_filters(page, batch):
    page.open(batch)
    page.find("a.tile")
    for text, expected in (("cat", ["cat"]), ("failed", 1), ("regions > 0", 3), ("size<20000", 1)):
        page.type("#filter", text)
        names = page.texts(".tile .name")
        assert names == expected or len(names) == expected, text
    page.type("#filter", "no such name")
    assert "No image fits" in page.find("main").text


def test_the_table_sorts_by_every_column(page, batch):
    page.open(batch)
    page.find("#as-table").click()
    for column, key in enumerate(("name", "size", "regions", "seconds", "status"), 1):
        orders = []
        for direction in ("ascending", "descending"):
            head = page.find(f'th button[data-key="{key}"]')
            if (key, direction) != ("name", "ascending"):  # which it is already
                head.click()
            head = page.find(f"th:nth-child({column})")
            assert head.get_attribute("aria-sort") == direction
            orders.append(page.texts(f"tbody td:nth-child({column})"))
        assert orders[0] == orders[1][::-1] or key == "status"
        assert len(set(orders[0])) > 1
    counts = [int(text) for text in page.texts("tbody td:nth-child(3)") if text]
    assert len(counts) == 3


def test_the_slider_moves_through_levels_whose_labels_the_command_writes(
    page, batch, monkeypatch, tmp_path
):
    open_image(page, batch, "cat")
    written = read_labels(batch.parent / "cat_labels.png")
    assert page.find("#count").get_attribute("value") == str(written.max() + 1)
    before, n_before = page.look(), len(np.unique(written))
    page.slide("#level", 20)
    assert page.look() != before
    n = int(page.find("#count").get_attribute("value"))
    assert n != n_before
    assert page.find("#between").text.startswith(f"{n} regions from level 0.")
    page.find("#save").click()
    name = page.downloads / f"cat_{n}_labels.png"
    page.wait(name.exists)
    downloaded = read_labels(name)
    command = shlex.split(page.find("#command").text)
    assert command[:2] == ["pfeseg", "segment"]
    assert command[-4:] == ["--regions", str(n), "-o", "again"]
    monkeypatch.chdir(tmp_path)
    assert run(*command[1:]).exit_code == 0
    np.testing.assert_array_equal(downloaded, read_labels(tmp_path / "again" / "cat_labels.png"))
    assert iio.imread(name).dtype == np.uint16


def test_the_number_of_regions_can_be_typed(page, batch):
    from selenium.webdriver.common.keys import Keys

    open_image(page, batch, "scene")
    colours = (
        "const c = document.querySelector('.stage canvas');"
        "const copy = new OffscreenCanvas(c.width, c.height).getContext('2d');"
        "copy.drawImage(c, 0, 0);"
        "const pixels = copy.getImageData(0, 0, c.width, c.height).data;"
        "return new Set(new Uint32Array(pixels.buffer)).size"
    )
    for n in (1, 2, 5):
        page.type("#count", f"{n}{Keys.ENTER}")
        assert page.driver.execute_script(colours) == n
    page.type("#count", f"100000000{Keys.ENTER}")
    most = page.find("#count").get_attribute("max")
    assert page.find("#count").get_attribute("value") == most


def test_opacity_and_boundaries_change_the_picture(page, batch):
    open_image(page, batch, "cat")
    looks = [page.look()]
    page.slide("#opacity", 0)
    looks.append(page.look())
    page.find("#boundaries").click()
    looks.append(page.look())
    page.slide("#opacity", 100)
    looks.append(page.look())
    assert len(set(looks)) == 4


def test_a_region_lights_up_under_the_mouse(page, batch):
    open_image(page, batch, "cat")
    labels = read_labels(batch.parent / "cat_labels.png")
    rows = region_rows(iio.imread(SAMPLES / "chelsea.jpg"), labels)
    before = page.look()
    page.point(".stage", 0.5, 0.5)
    height, width = labels.shape
    region = labels[height // 2, width // 2]
    assert page.find(".told .label").text == str(region)
    share = f"{100 * rows[region]['area'] / labels.size:.3g}"
    assert page.find(".told .area").text == f"{rows[region]['area']:,} pixels, {share} %"
    means = [float(text) for text in page.find(".told .mean").text.split(", ")]
    exact = [rows[region][f"mean_{colour}"] for colour in ("red", "green", "blue")]
    np.testing.assert_allclose(means, exact, atol=0.06)
    assert page.look() != before
    page.point("h1", 0.5, 0.5)
    assert page.look() == before


def test_all_is_reached_by_the_keyboard(page, batch):
    from selenium.webdriver.common.keys import Keys

    page.open(batch)
    page.find("#filter").click()
    page.press("cat")
    reached = []
    for _ in range(6):
        page.press(Keys.TAB)
        reached.append(page.driver.switch_to.active_element.get_attribute("id"))
    assert reached[:4] == ["sort", "turn", "as-grid", "as-table"]
    page.find("a.tile").send_keys(Keys.ENTER)
    stage = page.find(".stage")
    page.driver.execute_script("arguments[0].focus()", stage)
    page.press(Keys.ARROW_RIGHT)
    first = page.find(".told .label").text
    page.press(*[Keys.ARROW_LEFT, Keys.ARROW_UP] * 26)
    assert page.find(".told .label").text != first
    before = page.find("#count").get_attribute("value")
    page.find("#level").send_keys(Keys.ARROW_RIGHT)
    assert page.find("#count").get_attribute("value") != before
    assert page.driver.title == "cat · out"
    page.find("#boundaries").send_keys(Keys.ESCAPE)
    page.wait(lambda: page.all("#filter"))
    assert page.driver.switch_to.active_element.text.startswith("cat\n")  # where one was before


def test_channels_history_and_settings_are_shown(page, batch):
    open_image(page, batch, "cat")
    assert len(page.all("#channels canvas")) == 8
    assert len(page.all("#history svg")) == 2
    assert len(page.all("#history polyline")[0].get_attribute("points").split()) > 10
    assert page.find("#settings p").text == "All are the defaults."


def test_it_is_readable_on_a_phone_and_in_the_dark(page, batch):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    ground = "return getComputedStyle(document.body).backgroundColor"
    page.command("Emulation.setDeviceMetricsOverride", size)
    open_image(page, batch, "cat")
    assert page.wide() == 390
    x, y = (page.find(".stage").rect[side] + 100 for side in ("x", "y"))
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        page.command("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait(lambda: "pixels" in page.find(".told").text)
    light = page.driver.execute_script(ground)
    page.command("Emulation.setEmulatedMedia", dark)
    night = page.driver.execute_script(ground)
    assert sum(eval(light[3:])) > 600
    assert sum(eval(night[3:])) < 150
    page.find("#theme").click()
    assert page.driver.execute_script(ground) == light
    page.open(batch)
    page.find("a.tile")
    assert page.wide() == 390


def test_many_images_lie_beside_the_page(page, tmp_path):
    iio.imwrite(tmp_path / "tiny.png", iio.imread(SAMPLES / "scene.png")[::8, ::8])
    assert run("segment", tmp_path / "tiny.png", "--report").exit_code == 0
    for k in range(205):
        for end in (".json", "_labels.png", "_page.npz"):
            shutil.copy(tmp_path / f"tiny{end}", tmp_path / f"copy{k}{end}")
    result = run("report", tmp_path, "--overwrite")
    assert result.exit_code == 0, result.stderr
    assert len(list((tmp_path / "report_files").iterdir())) == 2 * 206
    assert (tmp_path / "report.html").stat().st_size < 200_000
    page.open(tmp_path / "report.html")
    page.find("a.tile")
    assert len(page.all("a.tile")) < 205  # more come while one scrolls
    image = page.find(".tile img")
    page.wait(lambda: image.get_property("naturalWidth"))
    page.open(tmp_path / "report.html", "#150")
    page.find(".stage")
    before = page.look()
    page.slide("#level", 1)
    assert page.look() != before
    assert page.find("h2").text == sorted(f"copy{k}.json" for k in range(205))[150][:-5]


def test_the_slider_of_a_sweep_moves_over_d(page, tmp_path):
    options = ("-d", "4,6", "-k", "3,5", "--report", "-o", tmp_path)
    result = run("sweep", SAMPLES / "scene.png", *options, "--max-size", 60)
    assert result.exit_code == 0, result.stderr
    page.open(tmp_path / "scene_sweep.html")
    page.find(".stage")
    assert len(page.all("#trials tbody tr")) == 4
    recommended = result.stdout.split("recommended: ")[1].strip()
    assert recommended in page.find("#command").text
    assert "recommended" in page.find("tr.chosen").text
    looks = set()
    for d in (0, 1):
        for k in (0, 1):
            page.slide("#d", d)
            page.slide("#k", k)
            named = f"d = {(4, 6)[d]}, k = {(3, 5)[k]}:"
            page.wait(lambda named=named: page.find("#trial").text.startswith(named))
            looks.add(page.look("#trial"))
            cells = page.texts("tr.chosen td")[:2]
            assert cells == [str((4, 6)[d]), str((3, 5)[k])]
    assert len(looks) == 4
    page.find("#best").click()
    page.wait(lambda: "recommended" in page.find("#trial").text)


def test_the_page_of_a_sweep_over_levels_is_made_again_and_moves(page, tmp_path):
    options = ("--levels", "0.1,0.3,0.5", "-o", tmp_path, "--max-size", 60)
    swept = run("sweep", SAMPLES / "chelsea.jpg", *options, "--json")
    assert swept.exit_code == 0, swept.stderr
    rows = json.loads(swept.stdout)["rows"]
    result = run("report", tmp_path, "-o", tmp_path / "again.html")
    assert result.exit_code == 0, result.stderr
    page.open(tmp_path / "again.html")
    page.find(".stage")
    assert not page.find("label:has(#d)").is_displayed()  # there is one d only
    assert (
        page.find("#trial").text == f"d = 8, level = 0.5: {rows[2]['regions']} regions, recommended"
    )
    looks = set()
    for place, row in enumerate(rows):
        page.slide("#level", place)
        shown = f"d = 8, level = {row['level']:g}: {row['regions']} regions"
        page.wait(lambda shown=shown: page.find("#trial").text.startswith(shown))
        assert page.find("#command").text.endswith(f"--level {row['level']:g} -o again")
        looks.add(page.look())
    assert len(looks) == 3
    assert not page.complaints()


def test_a_run_over_a_data_set_shows_tables_plots_and_extremes(page, tmp_path):
    scene = iio.imread(SAMPLES / "scene.png")[::2, ::2]
    truth = read_labels(SAMPLES / "scene_labels.png")[::2, ::2]
    for folder in ("images", "groundTruth"):
        (tmp_path / "data" / folder / "train").mkdir(parents=True)
    for name, part in (("left", np.s_[:, :100]), ("right", np.s_[:, 60:])):
        iio.imwrite(tmp_path / "data/images/train" / f"{name}.png", scene[part])
        save_truth(tmp_path / "data/groundTruth/train" / f"{name}.mat", truth[part])
    arguments = ("--methods", "hierarchy,kmeans", "-d", "3,4", "--no-figures", "--report")
    result = run("bsds", tmp_path / "data", "-o", tmp_path / "out", *arguments)
    assert result.exit_code == 0, result.stderr
    page.open(tmp_path / "out" / "report.html")
    page.find(".plots svg")
    assert len(page.all(".plots svg")) == 3
    table = (tmp_path / "out" / "table.md").read_text()
    assert len(page.all("table")) == table.count("\n|---")
    covering = [float(text.split()[-1]) for text in page.texts(".tile .muted")]
    assert len(covering) == 2
    assert covering == sorted(covering)
    again = run("report", tmp_path / "out", "-o", tmp_path / "again.html")
    assert again.exit_code == 0
    page_bytes = (tmp_path / "out" / "report.html").read_bytes()
    assert (tmp_path / "again.html").read_bytes() == page_bytes
