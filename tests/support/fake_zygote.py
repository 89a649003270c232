"""A zygote whose workers are those of fake_worker.py: each starts in milliseconds. Run as
`fake_zygote.py FD`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from grader.devices.remote import worker, zygote
from grader.devices.remote.protocol import Channel
from tests.support.fake_worker import make_device


def serve(channel: Channel, make: Callable[[], Any], isolation: str = "") -> int:
    """Serve the fake device in place of the one that was asked for, `emulated:NAME`."""
    (name,) = make.args  # type: ignore[attr-defined]  # a partial
    return worker.serve(
        channel, partial(make_device, name.partition(":")[2], channel.fileno()), isolation
    )


if __name__ == "__main__":
    zygote.load_emulator = list
    zygote.serve = serve
    sys.exit(zygote.main(sys.argv[1:]))
