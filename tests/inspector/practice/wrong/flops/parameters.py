# mistake: parameters counted, not FLOPs
def flops(n, width, ffn, heads):
    attention = 4 * width * width
    feed_forward = 2 * width * ffn
    return attention + feed_forward
