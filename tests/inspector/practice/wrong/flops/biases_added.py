# mistake: additions of the biases are counted too
def flops(n, width, ffn, heads):
    linear = lambda i, o: 2 * n * i * o + n * o
    projections = 4 * linear(width, width)
    attention = 2 * n * n * width * 2
    return projections + attention + linear(width, ffn) + linear(ffn, width)
