"""The way from a query and a key to their weight, step by step, beside the same steps of the query's other keys.

The data is no packed message but JSON: { steps: [{ formula, value, meaning, numbers }], keys: [token], positions,
chosen }, with the numbers of all the keys that are drawn after each step, null where masked.
"""
