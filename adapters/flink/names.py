"""
Java's names, asked for once.

py4j asks the JVM for every part of a name, each time that it is said: `jvm.org.apache.flink.types.Row` is five
questions. PyFlink says such names whenever it adds an operator to a job, and half of the time that it takes to build
one goes into their answers, which are always the same.
"""

from typing import Any

from py4j.java_gateway import JavaPackage, JVMView


class Package(JavaPackage):  # type: ignore[misc]
    """A package that knows what it was asked for."""

    def __getattr__(self, name: str) -> Any:
        return _kept(self, name, super().__getattr__(name))


class View(JVMView):  # type: ignore[misc]
    """A JVM that knows what it was asked for."""

    def __getattr__(self, name: str) -> Any:
        return _kept(self, name, super().__getattr__(name))


def _kept(where: Any, name: str, found: Any) -> Any:
    """What has a name, where Python looks before it asks."""
    if isinstance(found, JavaPackage):
        found = Package(found._fqn, found._gateway_client, found._jvm_id)  # noqa: SLF001 - there is no other way to it
    vars(where)[name] = found
    return found


def remember(gateway: Any) -> None:
    """Have a gateway's names asked for once."""
    plain = gateway.jvm
    gateway.jvm = View(plain._gateway_client, plain._jvm_name, id=plain._id)  # noqa: SLF001
