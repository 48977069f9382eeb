# mistake: ffn * ffn for the second FFN matrix
def flops(n, width, ffn, heads):
    attn = 4 * 2 * n * width * width + 2 * 2 * n * n * width
    return attn + 2 * n * width * ffn + 2 * n * ffn * ffn
