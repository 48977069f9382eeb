# the fused kernel of torch
import torch
import torch.nn.functional as F


def step(query, key, value, keys, values):
    keys, values = torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
    return F.scaled_dot_product_attention(query, keys, values), keys, values
