# mistake: 2d - 1 operations a dot product
def flops(n, width, ffn, heads):
    def matmul(a, b, c):
        return a * c * (2 * b - 1)

    d = width // heads
    attention = heads * (matmul(n, d, n) + matmul(n, n, d))
    return 4 * matmul(n, width, width) + attention + matmul(n, width, ffn) + matmul(n, ffn, width)
