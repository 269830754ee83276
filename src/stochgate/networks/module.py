"""Any torch module as a network."""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from stochgate.networks.base import Columns, Network, Parameters

# They carry state or randomness across rows and models, which a stack can not keep apart.
_REFUSED = (
    nn.modules.batchnorm._NormBase,
    nn.modules.dropout._DropoutNd,
    nn.AlphaDropout,
)


class ModuleNetwork(Network):
    r"""Any ``torch.nn.Module``, gated at its input and stacked with ``torch.func``.

    .. math:: f(x) = \text{module}(x \odot z)

    Batch norm and dropout are refused: they carry hidden state across the models of a stack.

    Parameters
    ----------
    factory : callable
        ``factory(n_columns, n_outputs)`` returns a fresh module that maps a tensor of shape
        (n_samples, n_columns) to one of shape (n_samples, n_outputs). It is called once per model with
        torch's random numbers seeded by the model's seed (and restored afterwards).

    Examples
    --------
    >>> from torch import nn
    >>> from stochgate.networks import ModuleNetwork
    >>> network = ModuleNetwork(lambda n_in, n_out: nn.Sequential(nn.Linear(n_in, 8), nn.GELU(),
    ...                                                           nn.Linear(8, n_out)))
    """

    _parameter_constraints = {"factory": [callable]}

    def __init__(self, factory: Callable[[int, int], nn.Module]):
        self.factory = factory

    def initial(  # noqa: D102
        self, seeds: Tensor, n_columns: int, base: Tensor, intercept: bool
    ) -> dict[str, Tensor]:
        n_outputs = base.shape[1]
        modules = [self._make(n_columns, n_outputs, seed).to(base) for seed in seeds.tolist()]
        refused = {type(m).__name__ for m in modules[0].modules() if isinstance(m, _REFUSED)}
        if refused:
            raise ValueError(
                f"The module contains {', '.join(sorted(refused))}, which carries hidden state "
                "across a stack of models; remove it or use LayerNorm instead."
            )
        parameters, buffers = torch.func.stack_module_state(modules)
        if buffers:
            raise ValueError(
                f"The module has buffers ({', '.join(buffers)}), which a stack of models can not "
                "train; store constants as plain attributes instead."
            )
        shape = modules[0](base.new_zeros(1, n_columns)).shape
        if shape != (1, n_outputs):
            raise ValueError(
                f"The module maps one row to shape {tuple(shape)}, but {n_outputs} outputs are needed; let "
                f"factory(n_columns, n_outputs) return a module that gives (1, {n_outputs})."
            )
        self.skeleton_ = modules[0].to("meta")  # its structure; the numbers are in the parameters
        self.n_columns_ = n_columns
        self.fed_: Tensor | None = None
        return {name: p.detach() for name, p in parameters.items()}

    def forward(  # noqa: D102
        self, parameters: Parameters, columns: Columns, scale: Tensor, shift: Tensor | None
    ) -> Tensor:
        X = columns.dense()  # (n_samples, n_columns)

        def one(parameters: Parameters, scale: Tensor, shift: Tensor) -> Tensor:
            gated = (X - shift) * scale
            if self.fed_ is not None:  # the module still wants all its columns
                gated = gated @ self.fed_.to(gated)
            return torch.func.functional_call(self.skeleton_, dict(parameters), (gated,))

        if shift is None:
            shift = torch.zeros_like(scale)
        return torch.func.vmap(one)(dict(parameters), scale, shift)

    def floats(self, n_columns: int, n_rows: int, n_outputs: int) -> tuple[int, int]:  # noqa: D102
        module = self._make(n_columns, n_outputs, seed=0).to("meta")
        weights = sum(p.numel() for p in module.parameters())
        widest = max(p.shape[0] for p in module.parameters())
        return weights, n_rows * (2 * n_columns + widest)

    def narrow(  # noqa: D102
        self, parameters: Parameters, columns: Tensor
    ) -> tuple[Network, dict[str, Tensor]]:
        narrowed = copy.copy(self)
        narrowed.fed_ = torch.eye(self.n_columns_)[columns.cpu()]  # (n_fed, n_columns)
        return narrowed, dict(parameters)

    def _make(self, n_columns: int, n_outputs: int, seed: int) -> nn.Module:
        """Call the factory with the CPU's random numbers seeded, and restored afterwards."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return self.factory(n_columns, n_outputs)
