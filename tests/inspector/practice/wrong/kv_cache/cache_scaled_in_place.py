# mistake: keys /= root changes the cache that was given
import numpy as np


def step(query, key, value, keys, values):
    new_keys = np.concatenate([keys, key], axis=1)
    new_values = np.concatenate([values, value], axis=1)
    root = np.sqrt(query.shape[-1])
    keys /= root
    s = np.concatenate([query @ keys.swapaxes(1, 2), query @ key.swapaxes(1, 2) / root], axis=-1)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ new_values, new_keys, new_values
