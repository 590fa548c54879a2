"""The cache of Java's names."""

import pytest

pytestmark = pytest.mark.flink


class Jvm:
    """A connection to a JVM that has one class; it counts the questions."""

    converters = ()

    def __init__(self):
        from py4j.java_gateway import GatewayProperty  # noqa: PLC0415 - it comes with PyFlink

        self.asked = []
        self.gateway_property = GatewayProperty(auto_field=False, pool=None)

    def send_command(self, command):
        from py4j import protocol  # noqa: PLC0415

        name = command.splitlines()[2]
        self.asked.append(name)
        return protocol.SUCCESS_CLASS + name if name == "org.example.Thing" else protocol.SUCCESS_PACKAGE


class Gateway:
    def __init__(self, jvm):
        from py4j.java_gateway import JVMView  # noqa: PLC0415

        self.jvm = JVMView(jvm, "default", id="rj")


def test_a_name_is_asked_for_once():
    from py4j.java_gateway import JavaClass  # noqa: PLC0415

    from conformance.adapters.flink.names import cache_names  # noqa: PLC0415

    asked = Jvm()
    gateway = Gateway(asked)
    cache_names(gateway)
    first = gateway.jvm.org.example.Thing
    assert isinstance(first, JavaClass)
    assert asked.asked == ["org", "org.example", "org.example.Thing"]
    assert gateway.jvm.org.example.Thing is first
    assert gateway.jvm.org.example.other is gateway.jvm.org.example.other
    assert asked.asked[3:] == ["org.example.other"]
