"""Fixtures with a real browser: Chromium and its driver from the packages of the system."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIVERS = ("chromedriver", "chromium.chromedriver")

WIDE, NARROW = (1280, 900), (390, 844)


def missing_browser():
    """Return why there is no browser to test in, and how to get one; an empty text if there is one."""
    if find_spec("selenium") is None:
        return "selenium is not installed: tox -e browser installs it"
    if not _found(BROWSERS) or not _found(DRIVERS):
        return "there is no Chromium with its driver on the PATH: apt-get install chromium chromium-driver"
    return ""


def _found(names):
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def start():
    """Start browsers, and end them after the session."""
    if missing := missing_browser():
        pytest.skip(missing)
    from selenium import webdriver  # noqa: PLC0415 - it need not be there
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    started = []

    def browser(*arguments):
        options = webdriver.ChromeOptions()
        options.binary_location = _found(BROWSERS)
        # A container often has one user and little shared memory. All pages are our own files.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *arguments):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        started.append(webdriver.Chrome(options=options, service=Service(_found(DRIVERS))))
        return started[-1]

    yield browser
    for each in started:
        each.quit()


@pytest.fixture(scope="session")
def chromium(start):
    return start()


class Tab:
    """A report opened in the browser."""

    def __init__(self, driver, folder):
        self.driver = driver
        self.folder = folder

    def open(self, fragment="", *, size=WIDE, dark=False, media=""):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get("about:blank")
        self.driver.get(f"{(Path(self.folder) / 'index.html').as_uri()}{fragment}")
        return self

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def console_messages(self):
        """Return the messages of the browser's console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]
