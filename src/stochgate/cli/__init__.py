"""The command line. Its modules need the extra `cli` (typer, rich, pandas); only `main` does not."""
