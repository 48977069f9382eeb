# pairs as complex numbers, multiplied by exp(i angle)
import torch


def rotate(x, base):
    n, E = x.shape[1:]
    a, b = x.double().chunk(2, dim=-1)
    angle = torch.outer(torch.arange(n).double(), base ** (-torch.arange(0, E, 2).double() / E))
    turned = torch.complex(a, b) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], dim=-1).to(x.dtype)
