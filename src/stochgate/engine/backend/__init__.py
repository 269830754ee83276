"""All that is there for speed alone: products, steps and settings of CPUs and GPUs."""
