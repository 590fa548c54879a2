"""
The HTML report on a thousand cases: how large it is, how long writing it takes, and when a browser first paints it.

Writing is measured in seconds of the processor too, which other work on the machine hardly changes. The browser is
Chromium, without a window, five times; without one, or without selenium, that part is left out, and said to be.
"""

import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.campaign.session import CampaignConfig, certify
from conformance.reports.html import write_report

CASES = 1_000 - 38
"""Generated ones; with the corpus, a thousand."""

ENGINES = ("reference", "mutant:in-flight-kept")
PAINTED = """
return performance.getEntriesByName("first-contentful-paint").map((entry) => entry.startTime)[0]
"""


def main() -> None:
    """Print the figures."""
    for word in ENGINES:
        with TemporaryDirectory() as folder:
            results = Path(folder, "results")
            order = CampaignConfig(profile="standard", cases=CASES, shrink_runs=100, shrink_seconds=30)
            judged = sum(type(event).__name__ == "Judged" for event in certify(word, order, results))
            out = Path(folder, "index.html")
            wall, processor = time.perf_counter(), time.process_time()
            write_report(results, out)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            size = out.stat().st_size / 1e6
            print(
                f"report, {word}, {judged} cases: {size:.2f} MB (at most 5), written in {wall:.1f} s, "
                f"{processor:.1f} s of the processor (at most 10); first paint {_painted(out)} (at most 1 s)"
            )


def _painted(page: Path) -> str:
    browser, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    try:
        from selenium import webdriver  # noqa: PLC0415 - it need not be there
        from selenium.webdriver.chrome.service import Service  # noqa: PLC0415
    except ImportError:
        return "not measured: selenium is not installed"
    if browser is None or driver is None:
        return "not measured: there is no Chromium with its driver"
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    try:
        times = []
        for _ in range(5):
            chromium.get("about:blank")
            chromium.get(page.as_uri())
            times.append(float(chromium.execute_script(PAINTED)))
    finally:
        chromium.quit()
    return f"after {min(times):.0f} to {max(times):.0f} ms"
