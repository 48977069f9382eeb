# mistake: the softmax is counted as well, 5 operations a score
def flops(n, width, ffn, heads):
    projections = 8 * n * width * width
    attention = 4 * n * n * width + 5 * heads * n * n
    return projections + attention + 4 * n * width * ffn
