"""All that is there for speed alone.

CPUs: `cpu_step` (a step without autograd), `cpu_product` (closed columns are left out), `cpu_packing`
(refits on their own columns), `cpu_runs` (models that share a product). GPUs: `gpu_product`, `triton` (its
kernels). Both: `process_settings` (threads, memory, TF32). Recorded steps are in `engine/steps.py`, stacks
side by side in `engine/chunks.py`.
"""
