import torch

# The tests' tensors are tiny: a second thread costs more than it brings.
torch.set_num_threads(1)
