# mistake: only q, k and v are projected, the output projection is forgotten
def flops(n, width, ffn, heads):
    qkv = 3 * 2 * n * width * width
    scores = 2 * n * n * width
    mixed = 2 * n * n * width
    ffn_flops = 2 * (2 * n * width * ffn)
    return qkv + scores + mixed + ffn_flops
