"""Where fits are trained: in this process, or by the workers of a Ray cluster."""

from stochgate.backends.backend import NAMES, Backend, backend, check_backend, trained_on

__all__ = ["NAMES", "Backend", "backend", "check_backend", "trained_on"]
