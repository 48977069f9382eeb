# mistake: q k^T and weights @ v with the full width, times the number of heads
def flops(n, width, ffn, heads):
    projections = 4 * 2 * n * width**2
    attention = heads * (2 * n * n * width + 2 * n * n * width)
    return projections + attention + 2 * 2 * n * width * ffn
