# a rotation matrix of E x E for each position
import numpy as np


def rotate(x, base):
    E = x.shape[-1]
    half = E // 2
    out = np.empty_like(x)
    for position in range(x.shape[1]):
        turn = np.zeros((E, E))
        for i in range(half):
            angle = position * base ** (-2 * i / E)
            turn[i, i] = turn[i + half, i + half] = np.cos(angle)
            turn[i, i + half], turn[i + half, i] = -np.sin(angle), np.sin(angle)
        out[:, position] = x[:, position] @ turn.T
    return out
