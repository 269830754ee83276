"""Checkpoints: what is trained is kept on disk, and the same call goes on from there.

`folder.py` has the folder and its head, `runner.py` the journal of plans, `state.py` the state inside one
training, `store.py` the files, `digest.py` how to tell whether two things are the same.
"""

from stochgate.engine.checkpoint.errors import CheckpointError, CheckpointWriteError
from stochgate.engine.checkpoint.folder import Checkpoint, open_checkpoint

__all__ = ["Checkpoint", "CheckpointError", "CheckpointWriteError", "open_checkpoint"]
