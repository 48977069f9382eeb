# mistake: each head has projections of the full width
def flops(n, width, ffn, heads):
    total = 0
    for _ in range(heads):
        total += 3 * 2 * n * width * width
        total += 2 * 2 * n * n * (width // heads)
    total += 2 * n * width * width
    total += 2 * 2 * n * width * ffn
    return total
