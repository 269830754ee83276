"""The parts of the page, each a function of the collected data."""
