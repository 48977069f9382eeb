# mistake: half of q k^T and weights @ v, as if the layer were causal
def flops(n, width, ffn, heads):
    pairs = n * (n + 1) // 2
    return 8 * n * width * width + 4 * pairs * width + 4 * n * width * ffn
