"""
Cache of Java's names.

py4j asks the JVM for every part of a name, each time that it is used: `jvm.org.apache.flink.types.Row` is five
questions. PyFlink uses such names whenever it adds an operator to a job. Half of the time that it takes to build a job
goes into the answers, which are always the same.
"""

from typing import Any

from py4j.java_gateway import JavaPackage, JVMView


class CachedPackage(JavaPackage):  # type: ignore[misc]
    """A Java package that caches its members."""

    def __getattr__(self, name: str) -> Any:
        return _cached(self, name, super().__getattr__(name))


class CachedView(JVMView):  # type: ignore[misc]
    """A view of a JVM that caches its packages and classes."""

    def __getattr__(self, name: str) -> Any:
        return _cached(self, name, super().__getattr__(name))


def _cached(owner: Any, name: str, found: Any) -> Any:
    """Store a member where Python finds it before it calls `__getattr__`."""
    if isinstance(found, JavaPackage):
        found = CachedPackage(found._fqn, found._gateway_client, found._jvm_id)  # noqa: SLF001 - there is no other way to it
    vars(owner)[name] = found
    return found


def cache_names(gateway: Any) -> None:
    """Let a gateway ask for each name once."""
    plain = gateway.jvm
    gateway.jvm = CachedView(plain._gateway_client, plain._jvm_name, id=plain._id)  # noqa: SLF001
