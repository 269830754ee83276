"""Any torch module as a network."""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from stochgate.networks.base import Columns, Network, Parameters

BASE = "base."  # the dot at its end keeps it apart from the names a module gives its parameters


class ModuleNetwork(Network):
    r"""Any ``torch.nn.Module``, gated at its input and stacked with ``torch.func``.

    .. math:: f(x) = \text{module}(x \odot z) + b

    The constant b starts at the base rate and is trained. A Cox model has none, since no constant
    changes its loss; a bias in the module's own last layer is still trained there, and drifts, so leave
    it out. Sparse input is made dense for a module, at every step and draw.

    Batch norm and dropout are refused: they carry hidden state across the models of a stack. So are
    buffers, frozen parameters, and one parameter under two names. Constants belong into plain tensor
    attributes, brought to the input's type and device by ``.to(x)``; the first model's serve all.

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

    recordable = False  # who knows what a module does
    _parameter_constraints = {"factory": [callable]}

    def __init__(self, factory: Callable[[int, int], nn.Module]):
        self.factory = factory

    def initial(  # noqa: D102
        self, seeds: Tensor, n_columns: int, base: Tensor, intercept: bool
    ) -> dict[str, Tensor]:
        n_outputs = base.shape[1]
        modules = [self._make(n_columns, n_outputs, seed).to(base) for seed in seeds.tolist()]
        stacked, _ = torch.func.stack_module_state(modules)
        parameters = {name: p.detach() for name, p in stacked.items()}
        self.skeleton_ = modules[0].to("meta")  # its structure; the numbers are in the parameters
        self.n_columns_ = n_columns
        self.fed_: Tensor | None = None
        self._try(parameters, base.new_zeros(len(base), 1, n_columns), n_outputs)
        return {**parameters, BASE: base.clone()} if intercept else parameters

    def forward(  # noqa: D102
        self, parameters: Parameters, columns: Columns, scale: Tensor, shift: Tensor | None
    ) -> Tensor:
        X = columns.dense()  # (n_samples, n_columns)
        centred = X if shift is None else X - shift.unsqueeze(1)
        gated = centred * scale.unsqueeze(1)  # (n_models, n_samples, n_columns)
        if self.fed_ is not None:  # the module still wants all its columns
            everything = gated.new_zeros(*gated.shape[:2], self.n_columns_)
            gated = everything.index_copy(2, self.fed_.to(gated.device), gated)
        output = self._run({name: p for name, p in parameters.items() if name != BASE}, gated)
        return output + parameters[BASE].unsqueeze(1) if BASE in parameters else output

    def floats(self, n_columns: int, n_rows: int, n_outputs: int) -> tuple[int, int]:  # noqa: D102
        shapes = [p.shape for p in self._make(n_columns, n_outputs, seed=0).parameters()]
        weights = sum(shape.numel() for shape in shapes)
        widest = max(shape[0] if shape else 1 for shape in shapes)
        return weights, n_rows * (2 * n_columns + widest)

    def narrow(  # noqa: D102
        self, parameters: Parameters, columns: Tensor
    ) -> tuple[Network, dict[str, Tensor]]:
        narrowed = copy.copy(self)
        narrowed.fed_ = columns.cpu() if self.fed_ is None else self.fed_[columns.cpu()]
        return narrowed, dict(parameters)

    def _make(self, n_columns: int, n_outputs: int, seed: int) -> nn.Module:
        """Call the factory with the CPU's random numbers seeded, and restored afterwards."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            module = self.factory(n_columns, n_outputs)
        _refuse_unstackable(module)
        return module

    def _run(self, parameters: Parameters, gated: Tensor) -> Tensor:
        """Run every model's module on its own input, (n_models, n_samples, n_columns)."""

        def one(parameters: dict[str, Tensor], gated: Tensor) -> Tensor:
            return torch.func.functional_call(self.skeleton_, parameters, (gated,))

        return torch.func.vmap(one)(dict(parameters), gated)

    def _try(self, parameters: Parameters, gated: Tensor, n_outputs: int) -> None:
        """Run the stack on one row, so that what can not be stacked is refused before training."""
        try:
            shape = tuple(self._run(parameters, gated).shape[1:])
        except Exception as error:
            raise ValueError(
                f"The module does not run in a stack of models ({type(error).__name__}: {error}); use "
                "layers that torch.func.vmap can run, and return one tensor."
            ) from error
        if shape != (1, n_outputs):
            raise ValueError(
                f"The module maps one row to shape {shape}, but {n_outputs} outputs are needed; let "
                f"factory(n_columns, n_outputs) return a module that gives (1, {n_outputs})."
            )


def _refuse_unstackable(module: nn.Module) -> None:
    """Refuse what a stack of models can not keep apart, or would not train as the module says."""
    once = dict(module.named_parameters())
    twice = dict(module.named_parameters(remove_duplicate=False))
    if not once:
        raise ValueError("The module has no parameters, so there is nothing to train; give it a layer.")
    faults = [
        (
            sorted({type(layer).__name__ for layer in module.modules() if _carries_state(layer)}),
            "contains {}, which carries hidden state across a stack of models; remove it or use LayerNorm",
        ),
        (
            [name for name, _ in module.named_buffers()],
            "has buffers ({}), which a stack of models can not train; store plain tensor attributes",
        ),
        (
            [name for name, p in once.items() if not p.requires_grad],
            "has frozen parameters ({}), but a stack trains them all; store plain tensor attributes",
        ),
        (
            [name for name in twice if name not in once],
            "repeats parameters ({}), which a stack can not tie; register a layer once and call it twice",
        ),
    ]
    for names, sentence in faults:
        if names:
            raise ValueError(f"The module {sentence.format(', '.join(names))} instead.")


def _carries_state(layer: nn.Module) -> bool:
    """Tell whether rows meet in the layer (batch norm), or all models in one random stream (dropout)."""
    if isinstance(layer, nn.modules.dropout._DropoutNd):
        return layer.p > 0
    return isinstance(layer, nn.modules.batchnorm._BatchNorm)
