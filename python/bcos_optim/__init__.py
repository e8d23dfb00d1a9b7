"""BCOS for PyTorch: AdamW's results with one state a parameter.

Change one line of a training script::

    optimizer = bcos_optim.BCOS(model.parameters(), lr=5e-4, weight_decay=0.1)

``BCOS`` is a ``torch.optim.Optimizer``; ``optimizer(name, ...)`` gives every named method of the
family, ``reference(...)`` the authors' own.
"""

from ._native import target, version
from .optimizer import BCOS, optimizer, reference

__all__ = ["BCOS", "optimizer", "reference", "target", "version"]
