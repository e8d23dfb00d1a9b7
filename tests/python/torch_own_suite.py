"""Runs torch's own ``test/test_optim.py``, unchanged, on BCOS.

The file is not in torch's wheel: take it, with the folder ``optim`` beside it, from the sources of
the release at hand or of one near it. Other arguments go to unittest::

    build/wheel-env/bin/python tests/python/torch_own_suite.py pytorch/test/test_optim.py
    ... pytorch/test/test_optim.py -k "*deepcopy*BCOS*"
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    if not arguments or arguments[0].startswith("-"):
        sys.exit(f"{__doc__}\nexpected the path of test_optim.py")
    suite = Path(arguments[0])
    if not suite.is_file():
        sys.exit(f"torch_own_suite: expected torch's test_optim.py but found no file at {suite}")
    from torch_optim_info import register

    register()
    sys.path.insert(0, str(suite.parent))
    chosen = arguments[1:] if "-k" in arguments else ["-k", "BCOS", *arguments[1:]]
    sys.argv = [str(suite), *chosen]
    runpy.run_path(str(suite), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
