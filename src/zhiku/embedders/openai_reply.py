"""Vectors out of the reply of an OpenAI-compatible endpoint: each checked, none taken on trust."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zhiku.errors import BadModelReply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEAST_NORM = 1e-9


def vectors_in(reply: object, count: int, dims: int, address: str) -> NDArray[np.float32]:
    """Return the vectors of `count` texts in their order: (count, dims) float32, rows of length 1.

    A vector that holds no number, or nothing but zeros, is a row of NaN. `dims` is 0 where any size will do. Raises
    `BadModelReply` where it cannot be told which vector is whose, or a size is wrong.
    """
    import numpy as np

    rows = [_numbers(each, address) for each in _in_order(reply, count, address)]
    sizes = set(map(len, rows))
    if len(sizes) != 1 or 0 in sizes or (dims and sizes != {dims}):
        raise BadModelReply(
            "{address} answers with vectors of {found} numbers instead of {wanted}.",
            address=address,
            found=", ".join(map(str, sorted(sizes))),
            wanted=dims or "some",
            hint="check model_name and dimensions in config.toml",
        )
    try:
        vectors = np.array(rows, np.float64)  # None, which stands for what JSON has no number for, becomes NaN
    except (ValueError, TypeError, OverflowError) as error:
        raise _no_vector(address) from error
    if vectors.ndim != 2:
        raise _no_vector(address)
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        norms[~(np.isfinite(norms) & (norms > _LEAST_NORM))] = np.nan
        vectors /= norms
    return vectors.astype(np.float32)


def _in_order(reply: object, count: int, address: str) -> list[Any]:
    data: Any = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise BadModelReply(
            "{address} answers with something that holds no vectors.",
            address=address,
            hint="check that the address is that of an OpenAI-compatible endpoint, and the model one that embeds",
        )
    if len(data) != count:
        raise BadModelReply(
            "{address} answers with {found} vectors for {count} texts.",
            address=address,
            found=len(data),
            count=count,
            hint="lower batch_size in config.toml, or look into the log of that server",
        )
    by_index = {each["index"]: each.get("embedding") for each in data if type(each.get("index")) is int}
    if set(by_index) != set(range(count)):
        raise BadModelReply(
            "{address} does not say which vector is of which text.",
            address=address,
            hint="set batch_size = 1 in config.toml, or use another server",
        )
    return [by_index[i] for i in range(count)]


def _numbers(embedding: object, address: str) -> Sequence[Any] | NDArray[np.float32]:
    """Return what stands for a vector, once it is out of base64; whether it holds numbers is not known yet."""
    import numpy as np

    if isinstance(embedding, list):
        return embedding
    try:
        if isinstance(embedding, str):
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    except (ValueError, binascii.Error) as error:
        raise _no_vector(address) from error
    raise _no_vector(address)


def _no_vector(address: str) -> BadModelReply:
    return BadModelReply(
        "{address} answers with a vector that is none.",
        address=address,
        hint="check that the address is that of an OpenAI-compatible endpoint, and the model one that embeds",
    )
