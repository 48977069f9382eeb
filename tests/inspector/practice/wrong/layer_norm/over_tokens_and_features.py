# mistake: one mean and one variance for a whole text, over tokens and features
import torch


def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=(1, 2), keepdim=True)
    var = ((x - mean) ** 2).mean(dim=(1, 2), keepdim=True)
    return (x - mean) / (var + eps).sqrt() * weight + bias
