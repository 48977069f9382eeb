# mistake: only the weight matrices: 2 times parameters times tokens
def flops(n, width, ffn, heads):
    parameters = 4 * width * width + 2 * width * ffn
    return 2 * parameters * n
