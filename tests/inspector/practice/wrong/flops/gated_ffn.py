# mistake: three FFN matrices as in SwiGLU
def flops(n, width, ffn, heads):
    projections = 4 * 2 * n * width * width
    attention = 2 * 2 * n * n * width
    return projections + attention + 3 * 2 * n * width * ffn
