# one formula
def flops(n, width, ffn, heads):
    return 4 * n * width * (2 * width + n + ffn)
