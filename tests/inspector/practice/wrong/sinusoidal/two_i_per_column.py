# mistake: the exponent is 2 * column / width, i taken for the column
import math


def sinusoidal(positions, width):
    table = []
    for pos in range(positions):
        row = []
        for i in range(width):
            angle = pos / 10000 ** (2 * i / width)
            row.append(math.sin(angle) if i % 2 == 0 else math.cos(angle))
        table.append(row)
    return table
