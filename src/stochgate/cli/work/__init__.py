"""What the commands do, usable without a command line."""
