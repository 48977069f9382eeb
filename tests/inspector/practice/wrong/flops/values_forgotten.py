# mistake: q k^T is counted, weights @ v is not
def flops(n, width, ffn, heads):
    return 8 * n * width**2 + 2 * n**2 * width + 4 * n * width * ffn
