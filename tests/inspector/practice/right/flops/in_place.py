def flops(n, width, ffn, heads):
    total = 4 * n * width * width
    total += n * n * width
    total += n * n * width
    total += n * width * ffn
    total += n * ffn * width
    total *= 2
    return total
