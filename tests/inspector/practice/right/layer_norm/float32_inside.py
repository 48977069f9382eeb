# computed in float32, given back in the dtype of x
import torch


def layer_norm(x, weight, bias, eps):
    wide = x.float()
    var, mean = torch.var_mean(wide, dim=-1, correction=0, keepdim=True)
    return ((wide - mean) * torch.rsqrt(var + eps)).to(x.dtype) * weight + bias
