"""Which method finds the features that matter, and predicts from them."""
