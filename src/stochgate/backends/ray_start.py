"""Ray, started on this machine alone or connected to a cluster."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stochgate.optional import require

# Ray's own switches: no reports home, and addresses of this machine only. The second is what Ray does on
# Windows and macOS unless asked otherwise; elsewhere it would listen on all addresses.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


def import_ray() -> Any:
    """Return the package ray, or say how to install it."""
    return require("ray", package="ray", needed_by='backend="ray"', extra="ray")


def start_ray(address: str | None = None, n_cpus: int | None = None) -> tuple[Any, bool]:
    """Return Ray, connected, and whether it was this call that connected it.

    Parameters
    ----------
    address : str, optional
        Of a cluster. Without one Ray is started here, and listens on the loopback address alone.
    n_cpus : int, optional
        CPUs of a Ray that is started here; by default all.
    """
    ray = import_ray()
    if ray.is_initialized():
        return ray, False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is not None:
        ray.init(address=address, **quiet)
    else:
        with on_loopback():
            ray.init(address="local", num_cpus=n_cpus, include_dashboard=False, **quiet)
    return ray, True


@contextmanager
def on_loopback() -> Iterator[None]:
    """Let what is started of Ray listen on the loopback address alone, and send no reports home."""
    import ray._private.ray_constants as constants

    before = {name: os.environ.get(name) for name in _QUIET}
    was_open = constants.ENABLE_RAY_CLUSTER  # read from the environment when Ray was imported
    os.environ.update(_QUIET)
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = was_open
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
