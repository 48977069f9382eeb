# counted by torch on meta tensors
import torch
from torch.utils.flop_counter import FlopCounterMode


def flops(n, width, ffn, heads):
    def of(*shape):
        return torch.empty(*shape, device="meta")

    with FlopCounterMode(display=False) as counter:
        for _ in range(4):
            of(n, width) @ of(width, width)
        of(heads, n, width // heads) @ of(heads, width // heads, n)
        of(heads, n, n) @ of(heads, n, width // heads)
        of(n, width) @ of(width, ffn)
        of(n, ffn) @ of(ffn, width)
    return counter.get_total_flops()
