# mistake: forward and backward, three times the forward pass
def flops(n, width, ffn, heads):
    forward = 8 * n * width**2 + 4 * n**2 * width + 4 * n * width * ffn
    return 3 * forward
