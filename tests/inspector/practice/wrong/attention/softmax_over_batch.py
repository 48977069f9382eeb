# mistake: softmax over the batch axis (dim=0)
import math

import torch
import torch.nn.functional as F


def attention(query, key, value):
    d = query.shape[-1]
    weights = F.softmax(query @ key.mT / math.sqrt(d), dim=0)
    return weights @ value
