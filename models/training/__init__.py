"""Training of the own Transformer: recipe -> tokenizer and batches -> loop -> checkpoint, card and replay.

    from models.training.experiments import Experiment
    from models.training.lab import train_both
    for course in train_both(Experiment(task="reverse", steps=20)):
        print(course.side, course.curve[-1].loss)

From a recipe to a model (`python -m models.train NAME`): recipes, corpus, tasks, batches, objectives, schedules, loop,
state (what a resumed training needs), finish, evaluation, card; reference.py has the yardsticks.
Beside a training, readable without torch: metrics (a CSV row at a time), replay and replay_file (attention at 12
moments), history (all of these, read from a checkpoint).
The lab: experiments (the choices, without torch), puzzles (the tasks), solvers (the tiny networks), lab (two of them
trained side by side in seconds), depth (their layers while they learn).
"""
