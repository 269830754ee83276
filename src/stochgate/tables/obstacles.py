"""What stands in the way of a table, all of it in one message."""

from dataclasses import dataclass
from typing import Any

MOST_NAMED = 10


@dataclass(frozen=True)
class Obstacle:
    """A column that cannot be used as it is.

    Attributes
    ----------
    column : str or int
    what : str
        What it holds.
    advice : str
    """

    column: Any
    what: str
    advice: str

    @property
    def text(self) -> str:
        """The obstacle in words."""
        return f"column {self.column!r} holds {self.what}: {self.advice}"


def refuse(obstacles: list[Obstacle]) -> None:
    """Raise one error that lists all obstacles, if there are any.

    Examples
    --------
    >>> from stochgate.tables.obstacles import Obstacle, refuse
    >>> refuse([])
    >>> refuse([Obstacle("visit", "dates", "take the year")])
    Traceback (most recent call last):
    ...
    ValueError: X cannot be used as it is: column 'visit' holds dates: take the year.
    """
    if not obstacles:
        return
    more = f"; and {len(obstacles) - MOST_NAMED} more columns" if len(obstacles) > MOST_NAMED else ""
    listed = "; ".join(obstacle.text for obstacle in obstacles[:MOST_NAMED])
    raise ValueError(f"X cannot be used as it is: {listed}{more}.")
