import numpy as np


def rotate(x, base):
    B, n, E = x.shape
    angle = np.arange(n)[:, None] * base ** (-2 * np.arange(E // 2) / E)
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.array([[cos, -sin], [sin, cos]])
    return np.einsum("rcni,bnci->bnri", turn, x.reshape(B, n, 2, E // 2)).reshape(B, n, E)
