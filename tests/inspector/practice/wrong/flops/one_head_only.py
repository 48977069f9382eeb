# mistake: q k^T and weights @ v of one head (width // heads) in place of all
def flops(n, width, ffn, heads):
    d = width // heads
    total = 4 * 2 * n * width * width
    total += 2 * n * n * d
    total += 2 * n * n * d
    total += 2 * 2 * n * width * ffn
    return total
