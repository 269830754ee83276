"""Tables that are read block by block: files, folders and whatever else is too large for memory."""
