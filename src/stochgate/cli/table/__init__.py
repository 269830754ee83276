"""From a file to the columns and the target of a fit."""
