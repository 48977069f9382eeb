def flops(n, width, ffn, heads):
    """Return the FLOPs of an encoder layer's matrix products, 2 a multiply-add."""
    projections = 4 * 2 * n * width * width
    scores_and_mixing = 2 * 2 * n * n * width
    feed_forward = 2 * 2 * n * width * ffn
    return projections + scores_and_mixing + feed_forward
