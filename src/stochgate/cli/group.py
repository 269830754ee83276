"""How commands end: with a result, or with one sentence and an exit code."""

import sys
import traceback
from typing import Any

from typer.core import TyperGroup

from stochgate.cli.errors import STOPPED, explain

DEBUG = "--debug"


class OneSentence(TyperGroup):
    """Commands whose errors are one sentence on stderr; `--debug`, anywhere, shows where they come from."""

    def main(self, args: Any = None, *others: Any, **more: Any) -> Any:
        """Run a command and leave with its exit code."""
        args = list(sys.argv[1:] if args is None else args)
        more["standalone_mode"] = False
        try:
            code = super().main([arg for arg in args if arg != DEBUG], *others, **more)
        except (Exception, KeyboardInterrupt) as error:
            text, code = explain(error)
            if DEBUG in args:
                traceback.print_exception(error, file=sys.stderr)
            print(f"Error: {text}", file=sys.stderr)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; typer would turn Ctrl-C into an exit code without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print("Stopped.", file=sys.stderr)
            sys.exit(STOPPED)
