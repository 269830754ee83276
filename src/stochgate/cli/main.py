"""Where the command `stochgate` begins; it says so where packages are missing."""

import sys

from stochgate.cli.pipes import readers_may_leave
from stochgate.optional import require

PACKAGES = ("typer", "rich", "pandas")


def run() -> None:
    """Run the command line."""
    try:
        for package in PACKAGES:
            require(package, package=package, needed_by="The command line", extra="cli")
    except ImportError as error:
        print(f"Error: {error}.", file=sys.stderr)
        sys.exit(1)
    from stochgate.cli.app import app

    with readers_may_leave():
        app(prog_name="stochgate")
