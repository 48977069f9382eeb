import math


def sinusoidal(positions, width):
    table = []
    for pos in range(positions):
        row = []
        for i in range(width // 2):
            angle = pos / 10000 ** (2 * i / width)
            row += [math.sin(angle), math.cos(angle)]
        table.append(row)
    return table
