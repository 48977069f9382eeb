# a function of one matrix product
def flops(n, width, ffn, heads):
    def matmul(rows, inner, columns):
        return 2 * rows * inner * columns

    d = width // heads
    attention = heads * (matmul(n, d, n) + matmul(n, n, d))
    return 4 * matmul(n, width, width) + attention + matmul(n, width, ffn) + matmul(n, ffn, width)
