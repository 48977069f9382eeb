# query and key each divided by the fourth root
import torch


def attention(query, key, value):
    share = query.shape[-1] ** 0.25
    return torch.softmax((query / share) @ (key / share).mT, dim=-1) @ value
