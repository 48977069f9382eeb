import torch


def delta_rule(query, key, value, beta):
    S = key.new_zeros(value.shape[1], key.shape[1])
    outputs = []
    for t in range(len(key)):
        error = value[t] - torch.einsum("fe,e->f", S, key[t])
        S = S + torch.einsum(",f,e->fe", beta[t], error, key[t])
        outputs.append(torch.einsum("fe,e->f", S, query[t]))
    return torch.stack(outputs)
