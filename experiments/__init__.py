"""Everything that measures: leagues, speed and the paper's experiments (`python -m experiments list`)."""
