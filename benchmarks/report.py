"""
The HTML report of a thousand cases: its size, the time to write it, and when a browser first paints it.

Writing is also measured in CPU seconds, which other work on the machine hardly changes. The browser is headless
Chromium, which loads the report five times; without Chromium or selenium that part is skipped, with a message.
"""

import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.campaign.session import CampaignConfig, certify
from conformance.reports.html import write_report

CASES = 1_000 - 38
"""The number of generated cases; with the corpus, there are a thousand."""

ENGINES = ("reference", "mutant:in-flight-kept")
FIRST_PAINT = """
return performance.getEntriesByName("first-contentful-paint").map((entry) => entry.startTime)[0]
"""


def main() -> None:
    """Print the figures."""
    for engine in ENGINES:
        with TemporaryDirectory() as folder:
            results = Path(folder, "results")
            config = CampaignConfig(profile="standard", cases=CASES, shrink_runs=100, shrink_seconds=30)
            judged = sum(type(event).__name__ == "Judged" for event in certify(engine, config, results))
            out = Path(folder, "index.html")
            wall, processor = time.perf_counter(), time.process_time()
            write_report(results, out)
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            size = out.stat().st_size / 1e6
            print(
                f"report, {engine}, {judged} cases: {size:.2f} MB (at most 5), written in {wall:.1f} s, "
                f"{processor:.1f} s of the processor (at most 10); first paint {_first_paint(out)} (at most 1 s)"
            )


def _first_paint(page: Path) -> str:
    browser, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    try:
        from selenium import webdriver  # noqa: PLC0415 - it is optional
        from selenium.webdriver.chrome.service import Service  # noqa: PLC0415
    except ImportError:
        return "not measured: selenium is not installed"
    if browser is None or driver is None:
        return "not measured: Chromium and its driver are not installed"
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
            times.append(float(chromium.execute_script(FIRST_PAINT)))
    finally:
        chromium.quit()
    return f"after {min(times):.0f} to {max(times):.0f} ms"
