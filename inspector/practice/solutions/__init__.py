"""The project's own few lines for every task: files as a reader would write them, run in the tests like a reader's.

python -m inspector.practice 2 inspector/practice/solutions/attention.py
"""
