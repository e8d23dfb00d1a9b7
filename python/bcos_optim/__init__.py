"""BCOS for PyTorch: an optimizer like AdamW with one state per parameter instead of two.

Change one line of a training script::

    optimizer = bcos_optim.BCOS(model.parameters(), lr=2e-3, weight_decay=0.1,
                                adjust_lr_fn="match_rms_adamw")  # the numbers of your AdamW

``BCOS`` is a ``torch.optim.Optimizer``; ``optimizer(name, ...)`` gives every named method of the
family, ``reference(...)`` the authors' own.
"""

from .files import convert, load, load_momentum, param_groups, save
from .limits import Report
from .native import set_threads, target, threads, version, version_of_package
from .optimizer import BCOS, optimizer, reference

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
