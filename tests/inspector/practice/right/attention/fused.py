# the fused kernel of torch
import torch.nn.functional as F


def attention(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)
