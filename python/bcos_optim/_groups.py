"""Parameter groups as training scripts make them."""

from __future__ import annotations

from typing import Any

from torch import nn

NORMS = (
    nn.LayerNorm,
    nn.GroupNorm,
    nn.modules.batchnorm._NormBase,
    nn.LocalResponseNorm,
) + ((nn.RMSNorm,) if hasattr(nn, "RMSNorm") else ())


def param_groups(
    model: nn.Module, weight_decay: float = 0.1, *, decay_embeddings: bool = True
) -> list[dict[str, Any]]:
    """Two groups with named parameters: matrices, which decay, and the rest, which do not.

    Not decayed: biases and everything else with fewer than two dimensions, all parameters of
    normalisation layers, and embeddings if ``decay_embeddings=False``. Frozen parameters are left
    out; a parameter used twice (tied weights) is in one group, once.

        optimizer = bcos_optim.BCOS(bcos_optim.param_groups(model, 0.1), lr=5e-4)
    """
    spared: set[int] = set()
    for module in model.modules():
        embedding = isinstance(module, (nn.Embedding, nn.EmbeddingBag)) and not decay_embeddings
        if isinstance(module, NORMS) or embedding:
            spared |= {id(p) for p in module.parameters(recurse=False)}
    decayed: list[tuple[str, nn.Parameter]] = []
    plain: list[tuple[str, nn.Parameter]] = []
    for name, p in model.named_parameters():
        if p.requires_grad:
            (decayed if p.dim() >= 2 and id(p) not in spared else plain).append((name, p))
    groups = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]
