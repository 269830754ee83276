"""What several of the experiments share, and the longer ones keep aside: settings, claims, tables."""
