"""Sets of features that may be chosen: how they are made, and how each is judged on held-out rows."""
