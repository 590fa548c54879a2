"""
The pytest plugin: `pytest --conformance-engine flink`, or a test of four lines.

    from conformance.pytest_plugin import guarantees

    @guarantees
    def test_failures_cannot_be_seen(conformance, guarantee):
        conformance("python:my_engine:MyEngine").check(guarantee)

Every pytest run loads this module, so it imports little besides pytest until a campaign is requested.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.settings import PROFILE_NAMES, read_settings

if TYPE_CHECKING:
    from conformance.campaign.tally import Tally

GUARANTEES = ("no loss", "no duplicates", "order", "state", "monotonic output", "atomic epochs", "liveness")

guarantees = pytest.mark.parametrize("guarantee", GUARANTEES)
"""A test for each guarantee."""

OPTIONS = ("profile", "cases", "seed", "deadline")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `conformance certify` that apply here; `[tool.conformance]` has their defaults."""
    group = parser.getgroup("conformance", "dataflow-conformance")
    group.addoption("--conformance-engine", action="append", default=[], metavar="ENGINE", help="certify this engine")
    group.addoption(
        "--conformance-profile",
        choices=PROFILE_NAMES,
        help="the number of generated cases: 100, 1,000 or 10,000",
    )
    group.addoption("--conformance-cases", type=int, metavar="N", help="another number of generated cases")
    group.addoption("--conformance-seed", type=int, metavar="S", help="the seed of the generated cases")
    group.addoption("--conformance-deadline", type=float, metavar="SECONDS", help="the deadline of one case")
    group.addoption(
        "--conformance-out", type=Path, metavar="DIR", help="the folder for results; by default build/conformance"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark that keeps the tests of an engine in one worker, where pytest-xdist does not."""
    if not config.pluginmanager.hasplugin("xdist"):
        config.addinivalue_line("markers", "xdist_group(name): tests that pytest-xdist runs in one worker")


class EngineNotCertified(Exception):
    """An engine has no campaign, for example because it cannot be started. Its text is shown to the user."""


class GuaranteeBroken(Exception):
    """A guarantee does not hold, or nothing is known about it. Its text is shown to the user."""


class Certified:
    """The campaign of an engine, after its end."""

    def __init__(self, tally: "Tally", folder: Path) -> None:
        self.tally = tally
        self.folder = folder

    def check(self, guarantee: str) -> None:
        """Raise an exception unless this guarantee holds; it says how it is broken, and how to reproduce that."""
        from conformance.errors import printable  # noqa: PLC0415
        from conformance.reports.summary import describe_violation  # noqa: PLC0415

        if guarantee not in GUARANTEES:
            raise GuaranteeBroken(f"there is no guarantee {guarantee!r}; there are {', '.join(GUARANTEES)}")
        verdict = self.tally.guarantee_verdict(guarantee)  # type: ignore[arg-type] # it is one of them
        if verdict == "violates":
            raise GuaranteeBroken(describe_violation(self.tally, guarantee, str(self.folder)))  # type: ignore[arg-type]
        if verdict != "conforms":
            reason = self.tally.why_inconclusive
            raise GuaranteeBroken(f"{verdict}: {printable(reason[1]) if reason else ''}\nresults: {self.folder}")


class Campaigns:
    """The campaigns of this session, one for each engine."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._known: dict[str, Certified | EngineNotCertified] = {}
        self._reported: set[str] = set()

    def __call__(self, engine: str) -> Certified:
        """
        Return the campaign of an engine; run it when it is first requested.

        An engine that cannot be certified is an error once; later tests that need it are skipped, and say why.
        """
        from conformance.errors import ConformanceError, printable  # noqa: PLC0415

        if engine not in self._known:
            try:
                self._known[engine] = self._certify(engine)
            except ConformanceError as error:
                self._known[engine] = EngineNotCertified(printable(f"{type(error).__name__}: {error}"))
        found = self._known[engine]
        if isinstance(found, Certified):
            return found
        if engine in self._reported:
            pytest.skip(f"{engine} was not certified; the first test on it has the error")
        self._reported.add(engine)
        raise found

    def _certify(self, engine: str) -> Certified:
        from conformance.campaign.results import existing_ancestor, point_latest, remove_unused  # noqa: PLC0415
        from conformance.campaign.session import CampaignConfig, certify, new_folder  # noqa: PLC0415
        from conformance.campaign.tally import Tally  # noqa: PLC0415
        from conformance.reports.folder import finish  # noqa: PLC0415

        settings = read_settings(self._config.rootpath)
        asked = {name: self._config.getoption(f"conformance_{name}") for name in OPTIONS}
        defaults = {name: settings[name] for name in (*OPTIONS, "shrink_runs", "shrink_seconds") if name in settings}
        parent = self._config.getoption("conformance_out") or self._config.rootpath / "build" / "conformance"
        config = CampaignConfig(**(defaults | {name: value for name, value in asked.items() if value is not None}))
        existing = existing_ancestor(parent)
        folder = new_folder(parent, [engine])
        try:
            tally = Tally.of(certify(engine, config, folder, keep=settings.get("keep", "failed")))
        finally:
            remove_unused(folder, existing)
        finish(folder)
        point_latest(folder, within=parent)
        return Certified(tally, folder)


CAMPAIGNS = pytest.StashKey[Campaigns]()


def campaigns(config: pytest.Config) -> Campaigns:
    """Return the campaigns of a session."""
    return config.stash.setdefault(CAMPAIGNS, Campaigns(config))


@pytest.fixture(scope="session")
def conformance(pytestconfig: pytest.Config) -> Callable[[str], Certified]:
    """Return a function that certifies an engine, once in a session, and returns its campaign."""
    return campaigns(pytestconfig)


class GuaranteeItem(pytest.Item):
    """One guarantee of one engine, as a test."""

    def __init__(self, *, engine: str, guarantee: str, **more: Any) -> None:
        super().__init__(**more)
        self.engine = engine
        self.guarantee = guarantee
        self.add_marker(pytest.mark.xdist_group(f"conformance-{engine}"))

    def setup(self) -> None:
        try:
            campaigns(self.config)(self.engine)
        except EngineNotCertified as error:
            pytest.fail(str(error), pytrace=False)

    def runtest(self) -> None:
        campaigns(self.config)(self.engine).check(self.guarantee)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show only the message of a broken guarantee, and anything else as usual."""
        if isinstance(excinfo.value, GuaranteeBroken):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.engine}: {self.guarantee}"


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add a test for each guarantee of each engine that the command line names."""
    items.extend(_items(session, config))


def _items(session: pytest.Session, config: pytest.Config) -> Iterator[pytest.Item]:
    for engine in dict.fromkeys(config.getoption("conformance_engine")):
        for guarantee in GUARANTEES:
            name = f"{engine}[{guarantee}]"
            yield GuaranteeItem.from_parent(session, name=name, engine=engine, guarantee=guarantee)
