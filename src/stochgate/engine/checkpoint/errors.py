"""What can go wrong with a checkpoint."""


class CheckpointError(ValueError):
    """The folder of a checkpoint cannot be used for this fit."""


class CheckpointWriteError(OSError):
    """A checkpoint cannot be written, as on a full disk; what was written before is intact."""
