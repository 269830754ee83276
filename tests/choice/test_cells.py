"""Cells, and the rows that their steps see."""
