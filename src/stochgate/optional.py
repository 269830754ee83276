"""Import packages that not every user has."""

from importlib import import_module
from typing import Any


def require(module: str, *, package: str, needed_by: str, extra: str = "baselines") -> Any:
    """Return an optional module, or say in one sentence which package to install.

    Parameters
    ----------
    module : str
        What to import, such as "sksurv.linear_model".
    package : str
        The name under which it is installed, such as "scikit-survival".
    needed_by : str
        Who needs it, for the message.
    extra : str
        The extra of stochgate that installs it.

    Examples
    --------
    >>> from stochgate.optional import require
    >>> require("math", package="math", needed_by="This example").sqrt(4)
    2.0
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{needed_by} needs the package {package}: pip install stochgate[{extra}]"
        ) from error
