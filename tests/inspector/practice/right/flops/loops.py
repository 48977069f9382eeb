def flops(n, width, ffn, heads):
    products = [(n, width, width)] * 4
    for _ in range(heads):
        products.append((n, width // heads, n))
        products.append((n, n, width // heads))
    products += [(n, width, ffn), (n, ffn, width)]
    total = 0
    for rows, inner, columns in products:
        total += 2 * rows * inner * columns
    return total
