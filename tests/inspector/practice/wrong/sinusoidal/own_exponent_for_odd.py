# mistake: each column has a frequency of its own: odd columns use 10000^(column / width)
import math


def sinusoidal(positions, width):
    table = []
    for pos in range(positions):
        row = []
        for i in range(width):
            angle = pos / 10000 ** (i / width)
            row.append(math.sin(angle) if i % 2 == 0 else math.cos(angle))
        table.append(row)
    return table
