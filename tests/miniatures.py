"""
Tiny engines that speak the protocol and misbehave on purpose.

`python -P miniatures.py NAME [N]` misbehaves in every N-th case as `MISBEHAVIOURS` says; otherwise it is the model.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from conformance.adapters.reference import Reference
from conformance.codec.protocol import decode_run, encode_answers, encode_description


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def flood(_):
    while True:
        sys.stdout.write('{"id": 0, "streams": {"a": []}} ' * 100)


def drown(id_):
    while True:
        say({"id": id_, "streams": {"ints": [[1] * 10_000]}})


def fill(_):
    for number in range(10_000):
        (Path(os.environ["TMPDIR"]) / str(number)).write_bytes(b"x" * 2**20)
        time.sleep(0.01)


def fill_one_file(_):
    with (Path(os.environ["TMPDIR"]) / "one").open("wb") as file:
        while True:
            file.write(b"x" * 2**20)


def leak(_):
    """Leave a grandchild in a session of its own, whose parent is gone, and which holds our stdout."""
    code = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
    subprocess.run([sys.executable, "-c", code, "sleep", os.environ.get("LEAK", "4242")], check=True)
    sys.exit(0)


MISBEHAVIOURS = {
    "hang": lambda _: time.sleep(3600),
    "exit": lambda _: sys.exit(3),
    "die": lambda _: os.kill(os.getpid(), 9),
    "garbage": lambda _: os.write(1, b"Hello \x1b[31m World\n"),
    "not-utf8": lambda _: os.write(1, b"\xff\xfe\n"),
    "number": lambda _: say(42),
    "flood": flood,
    "drown": drown,
    "fill": fill,
    "fill-one-file": fill_one_file,
    "leak": leak,
    "another-case": lambda id_: say({"id": id_ + 1, "end": "completed"}),
    "too-little": lambda id_: (say({"id": id_, "streams": {}}), say({"id": id_, "end": "completed"})),
    "unknown-failure": lambda id_: (say({"id": id_, "fired": 99}), say({"id": id_, "end": "completed"})),
    "says-error": lambda id_: say({"id": id_, "end": "error", "message": "no room"}),
    "last-words": lambda _: sys.exit("my last words \x07"),
}


def alive():
    """List the running engines of this file that this process or its descendants started."""
    return [
        each for each in psutil.Process().children(recursive=True) if any(part == __file__ for part in each.cmdline())
    ]


def main():
    misbehave, every = MISBEHAVIOURS[sys.argv[1]], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    reference = Reference([])
    count = 0
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "stop":
            return
        if request["do"] == "start":
            say(encode_description(reference.start()))
            continue
        id_, asked = decode_run(request)
        count += 1
        if count % every == 0:
            misbehave(id_)
        else:
            for answer in encode_answers(id_, next(reference.run([asked]))):
                say(answer)


if __name__ == "__main__":
    main()
