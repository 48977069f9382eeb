# mistake: attention counted as linear in n
def flops(n, width, ffn, heads):
    projections = 4 * 2 * n * width * width
    attention = 2 * (2 * n * width)
    ffn_part = 2 * 2 * n * width * ffn
    return projections + attention + ffn_part
