# mistake: a multiply-add is counted as one
def flops(n, width, ffn, heads):
    projections = 4 * n * width * width
    attention = 2 * n * n * width
    feed_forward = 2 * n * width * ffn
    return projections + attention + feed_forward
