"""What can be wrong with a model file."""


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file holds no model that can be loaded."""


class Fault(ValueError):
    """Something in a file that does not fit; `load` adds of which file.

    Parameters
    ----------
    what : str
    advice : str
    """

    def __init__(self, what: str, advice: str = "take an intact copy of the file, or save the model again"):
        super().__init__(what)
        self.advice = advice
