"""BCOS for PyTorch: an optimizer like AdamW with one state a parameter instead of two.

Change one line of a training script::

    optimizer = bcos_optim.BCOS(model.parameters(), lr=5e-4, weight_decay=0.1)

``BCOS`` is a ``torch.optim.Optimizer``; ``optimizer(name, ...)`` gives every named method of the
family, ``reference(...)`` the authors' own.
"""

from ._convert import convert
from ._files import load, load_momentum, save
from ._groups import param_groups
from ._native import Report, set_threads, target, threads, version, version_of_package
from ._optimizer import BCOS, optimizer, reference

for _public in (
    BCOS,
    Report,
    convert,
    load,
    load_momentum,
    optimizer,
    param_groups,
    reference,
    save,
):
    _public.__module__ = __name__  # where users find them, whatever file they are in

__version__ = version_of_package()

__all__ = [
    "BCOS",
    "Report",
    "convert",
    "load",
    "load_momentum",
    "optimizer",
    "param_groups",
    "reference",
    "save",
    "set_threads",
    "target",
    "threads",
    "version",
]
