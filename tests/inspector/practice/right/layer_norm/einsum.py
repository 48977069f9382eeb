import numpy as np


def layer_norm(x, weight, bias, eps):
    width = x.shape[-1]
    centred = x - np.einsum("bnd->bn", x)[..., None] / width
    var = np.einsum("bnd,bnd->bn", centred, centred) / width
    return np.einsum("bnd,bn,d->bnd", centred, 1 / np.sqrt(var + eps), weight) + bias
