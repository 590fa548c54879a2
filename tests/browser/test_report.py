"""The report in a browser: interaction, screen sizes, accessibility, printing."""

import base64
from importlib.resources import files

import pytest

from conformance.reports.html import write_report
from tests.browser.conftest import NARROW, WIDE, Tab
from tests.reports.folders import write_campaign, write_campaigns
from tests.reports.test_hostile import HOSTILE, write_hostile_campaign

pytestmark = pytest.mark.browser

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    folder = write_campaigns(tmp_path_factory.mktemp("browser") / "results", "mutant:in-flight-kept", "reference")
    write_report(folder, folder / "index.html")
    return folder


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    folder = write_campaign(tmp_path_factory.mktemp("browser") / "results", "mutant:appended-on-replay", logs=False)
    write_report(folder, folder / "index.html")
    return folder


@pytest.fixture(params=["several engines", "one engine"])
def tab(request, chromium):
    folder = request.getfixturevalue("engines" if request.param == "several engines" else "single")
    return Tab(chromium, folder)


def test_the_page_opens_without_console_messages(tab):
    tab.open()
    assert "violate" in tab.driver.title
    assert "violates" in tab.one(".verdict").text
    assert tab.console_messages() == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_nothing_is_wider_than_the_window(tab, size):
    tab.open(size=size)
    assert tab.run("return innerWidth") == size[0]
    for opened in (False, True):
        tab.run("for (const each of document.querySelectorAll('details')) each.open = arguments[0]", opened)
        assert tab.run("return document.documentElement.scrollWidth") <= size[0]


def test_cases_are_filtered_by_name_and_by_outcome(tab):
    tab.open()
    every = len(tab.all("#list > details"))
    tab.one("input[name=text]").send_keys("PAPER")
    shown = [each for each in tab.all("#list > details") if each.is_displayed()]
    assert {each.get_attribute("id") for each in shown} == {"c-paper-observed-execution", "c-paper-incremental-average"}
    assert tab.one("output").text == f"2 of {every} cases"
    tab.one("input[name=text]").clear()
    for option in tab.all("option"):
        option.click()
        shown = [each for each in tab.all("#list > details") if each.is_displayed()]
        wanted = option.text.rpartition("(")[2].rstrip(")")
        assert len(shown) == (int(wanted) if wanted.isdigit() else every)


def test_a_count_in_the_matrix_filters_the_cases(tab):
    tab.open()
    link = next(each for each in tab.all("[data-show]") if each.get_attribute("data-show").endswith(":violates"))
    number = int(link.text.split()[0])
    link.click()
    assert len([each for each in tab.all("#list > details") if each.is_displayed()]) == number


def test_the_matrix_links_to_a_counterexample(tab):
    tab.open()
    tab.one(".matrix a.violates").click()
    place = tab.one(":target")
    assert "counter" in place.get_attribute("class")
    assert 0 <= tab.run("return arguments[0].getBoundingClientRect().top", place) < 200
    assert "breaks" in place.text
    assert place.find_elements("css selector", "svg.st")


def test_a_link_to_a_case_opens_it(tab):
    tab.open("#c-in-flight-kept")
    assert tab.one("#c-in-flight-kept").get_attribute("open")
    assert tab.one("#c-in-flight-kept svg.gr").is_displayed()


def test_a_pointer_near_a_message_shows_its_title(tab):
    from selenium.webdriver import ActionChains  # noqa: PLC0415 - it need not be there

    tab.open()
    figure = next(each for each in tab.all(".counter figure") if each.find_elements("css selector", ".ms path"))
    message = figure.find_element("css selector", ".ms path")
    tab.run("arguments[0].scrollIntoView({block: 'center'})", figure)
    x, y = tab.run(
        "const path = arguments[0], middle = path.getPointAtLength(path.getTotalLength() / 2);"
        "const at = middle.matrixTransform(path.getScreenCTM()); return [at.x + 2, at.y]",
        message,
    )
    chain = ActionChains(tab.driver)
    chain.w3c_actions.pointer_action.move_to_location(round(x), round(y))
    chain.perform()
    assert "on" in figure.find_element("css selector", ".ms .on").get_attribute("class")
    told = figure.find_element("css selector", ".readout").text
    assert "epoch" in told
    assert "=" in told
    assert tab.console_messages() == []


def test_everything_can_be_reached_by_the_keyboard(tab):
    from selenium.webdriver import Keys  # noqa: PLC0415 - it need not be there

    tab.open()
    body = tab.one("body")
    seen = []
    for _ in range(400):
        tab.driver.switch_to.active_element.send_keys(Keys.TAB)
        now = tab.driver.switch_to.active_element
        if now == body:
            break
        seen.append(tab.run("return arguments[0].tagName + '.' + arguments[0].className", now))
    kinds = {each.split(".")[0] for each in seen}
    assert {"A", "BUTTON", "SUMMARY", "INPUT", "SELECT", "DIV"} <= kinds
    assert sum(each.startswith("SUMMARY.") for each in seen) >= len(tab.all("#list > details"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_page_passes_the_accessibility_rules(tab, dark, size):
    axe = files("axe_playwright_python") / "axe.min.js"
    tab.open(size=size, dark=dark)
    # The page allows only its own script, so the driver injects this one.
    tab.run("for (const each of document.querySelectorAll('details')) each.open = true")
    tab.run(axe.read_text(encoding="utf-8"))
    found = tab.driver.execute_async_script(
        "const done = arguments[1];"
        "axe.run(document, {runOnly: arguments[0], resultTypes: ['violations']}).then(done, (e) => done(String(e)))",
        RULES,
    )
    said = [
        f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0].get('failureSummary')}"
        for each in found["violations"]
    ]
    assert said == []
    assert found["testEngine"]["name"] == "axe-core"


def test_the_page_is_readable_without_javascript(start, engines):
    driver = start("--blink-settings=scriptEnabled=false")
    tab = Tab(driver, engines)
    tab.open()
    assert "violates" in tab.one(".verdict").text
    assert not tab.one(".filters").is_displayed()
    case = tab.one("#c-in-flight-kept")
    case.find_element("css selector", "summary").click()
    assert case.find_element("css selector", "svg.gr").is_displayed()
    tab.one(".matrix a.violates").click()
    assert "#x-" in driver.current_url


def test_the_page_prints(tab):
    tab.open()
    pdf = base64.b64decode(tab.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") + pdf.count(b"/Type/Page") >= 2
    tab.open(media="print", dark=True)
    assert not tab.one(".filters").is_displayed()
    assert not any(each.is_displayed() for each in tab.all("button"))
    assert tab.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_hostile_text_runs_no_script(chromium, tmp_path):
    for number, text in enumerate(HOSTILE):
        folder = tmp_path / str(number)
        write_hostile_campaign(folder, lambda text=text: text, lambda text=text: text[:64])
        write_report(folder, folder / "index.html")
        tab = Tab(chromium, folder).open(size=NARROW)
        assert tab.run("return window.hacked") is None
        assert tab.all("xss, img, iframe") == []
        assert tab.console_messages() == []
        assert tab.run("return document.documentElement.scrollWidth") <= NARROW[0]
