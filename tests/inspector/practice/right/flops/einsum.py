# two FLOPs for each combination of an einsum's letters
from math import prod


def flops(n, width, ffn, heads):
    sizes = {"n": n, "m": n, "d": width, "w": width, "f": ffn, "h": heads, "e": width // heads}
    equations = 4 * ["nd,dw->nw"] + ["nhe,mhe->hnm", "hnm,mhe->nhe", "nd,df->nf", "nf,fd->nd"]
    return sum(2 * prod(sizes[letter] for letter in set(e) - set(",->")) for e in equations)
