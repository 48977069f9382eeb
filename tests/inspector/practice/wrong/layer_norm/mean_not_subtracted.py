# mistake: RMSNorm: the mean is not subtracted
import torch


def layer_norm(x, weight, bias, eps):
    rms = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)
    return x / rms * weight + bias
