# mistake: the FFN is taken as 4 * width wide, whatever is given
def flops(n, width, ffn, heads):
    ffn = 4 * width
    attention = 4 * 2 * n * width**2 + 2 * 2 * n**2 * width
    return attention + 2 * 2 * n * width * ffn
