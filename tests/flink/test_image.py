"""Errors about Docker and the image."""

import pytest

from conformance.adapters.flink import Flink, image
from conformance.errors import EngineUnavailable


@pytest.fixture
def no_docker(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def docker_says(monkeypatch, tmp_path):
    """A `docker` that lists certain images."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def say(images, inspected="[]"):
        script = f"#!/bin/sh\ncase $1 in images) echo {images};; image) echo '{inspected}';; esac\n"
        (tmp_path / "docker").write_text(script)
        (tmp_path / "docker").chmod(0o755)

    return say


@pytest.mark.usefixtures("no_docker")
def test_missing_docker_is_an_error():
    with pytest.raises(EngineUnavailable, match="needs Docker, and there is no `docker` on the PATH"):
        image.check()
    assert not image.is_there()
    assert "needs Docker" in Flink([]).places()["containers"]
    assert Flink([]).places()["processes"] == ""


def test_a_missing_image_is_an_error_with_the_command_that_builds_it(docker_says):
    docker_says("")
    with pytest.raises(EngineUnavailable, match=r"which is not there: build it with `conformance flink-image`"):
        image.check()


def test_an_image_for_another_python_is_an_error(docker_says):
    docker_says("abc", '[{"Config": {"Labels": {"conformance.python": "3.9"}}}]')
    with pytest.raises(EngineUnavailable, match=rf"is for Python 3\.9, and we run on {image.PYTHON}"):
        image.check()
    docker_says("abc", f'[{{"Config": {{"Labels": {{"conformance.python": "{image.PYTHON}"}}}}}}]')
    assert image.is_there()


def test_an_error_of_docker_is_quoted(docker_says, tmp_path):
    docker_says("")
    (tmp_path / "docker").write_text("#!/bin/sh\necho 'cannot connect to the daemon' >&2\nexit 1\n")
    with pytest.raises(EngineUnavailable, match="`docker version` fails: cannot connect to the daemon"):
        image.check()
