"""Stability selection: the features most halves of the rows agree on, with error control."""
