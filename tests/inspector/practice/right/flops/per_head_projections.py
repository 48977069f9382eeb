# the projections head by head
def flops(n, width, ffn, heads):
    d = width // heads
    head = 3 * 2 * n * width * d + 2 * n * n * d + 2 * n * n * d + 2 * n * d * width
    return heads * head + 2 * 2 * n * width * ffn
