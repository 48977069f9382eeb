# all tokens at once by a triangular solve
import torch


def delta_rule(query, key, value, beta):
    q, k, v, b = query.double(), key.double(), value.double(), beta.double()[:, None]
    A = torch.eye(len(k), dtype=torch.float64) + torch.tril(b * (k @ k.T), diagonal=-1)
    written = torch.linalg.solve_triangular(A, b * v, upper=False)
    return (torch.tril(q @ k.T) @ written).to(value.dtype)
