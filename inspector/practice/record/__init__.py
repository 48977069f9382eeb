"""The records of a task: `Task`, the `Case`s that a solution is held to, and the `Mistake`s that are named."""
