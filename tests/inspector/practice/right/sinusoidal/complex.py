# real and imaginary part of exp(i angle)
import torch


def sinusoidal(positions, width):
    freq = 10000 ** (-torch.arange(0, width, 2) / width)
    angle = torch.outer(torch.arange(positions).float(), freq)
    turned = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flip(-1).flatten(1)
