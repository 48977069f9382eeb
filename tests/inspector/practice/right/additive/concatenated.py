# one matrix [W_q W_k] times query and key joined, as Bahdanau's alignment model is often drawn
import torch


def additive_scores(query, key, w_query, w_key, v):
    Q, T = len(query), len(key)
    joined = torch.cat([query[:, None].expand(Q, T, -1), key[None].expand(Q, T, -1)], dim=-1)
    return torch.tanh(joined @ torch.cat([w_query, w_key], dim=1).T) @ v
