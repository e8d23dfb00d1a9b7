"""Python's safetensors opens a file that the engine wrote.

Usage: safetensors_opens_our_file.py FILE [NAME...]

Lists the tensors; with names, these must be exactly the tensors of the file.
"""

import sys

from safetensors import safe_open


def main() -> None:
    path, *expected = sys.argv[1:]
    with safe_open(path, framework="numpy") as file:
        names = sorted(file.keys())
        metadata = file.metadata()
        for name in names:
            tensor = file.get_tensor(name)
            assert list(tensor.shape) == file.get_slice(name).get_shape(), name
            assert f"crc32c:{name}" in metadata, name
            print(name, tensor.dtype, list(tensor.shape))
    assert metadata["crc32c.tensors"] == str(len(names)), metadata
    assert not expected or names == sorted(expected), (names, expected)


if __name__ == "__main__":
    main()
