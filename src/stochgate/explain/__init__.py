"""What a fitted model says about its features."""
