"""Training of the own Transformer: recipe -> tokenizer and batches -> loop -> checkpoint, card and replay.

    from models.training.tiny.experiments import Experiment
    from models.training.lab import train_both
    for course in train_both(Experiment(task="reverse", steps=20)):
        print(course.side, course.curve[-1].loss)

From a recipe to a model (`python -m models.train NAME`): recipes, corpus, tasks, batches, objectives, schedules, loop,
state (what a resumed training needs), finish, evaluation, card; reference.py has the yardsticks.
Beside a training, readable without torch: metrics (a CSV row at a time), replay and replay_file (attention at 12
moments), history (all of these, read from a checkpoint).
The lab: lab.py trains two tiny networks side by side in seconds; tiny/ has their choices, tasks and layers.
"""
