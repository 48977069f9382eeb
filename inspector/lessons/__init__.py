"""Lessons: a teacher's own order of texts, questions, tasks and numbers to find, and the answers that come back.

```python
from inspector import lessons

lesson = lessons.shipped("evening")
answers = lessons.Answers(lesson.digest, lesson.title.en, student="Li", given={2: "true"})
[lessons.judge(step.asks, answers.given.get(at)).right for at, step in lesson.asking.items()]
```

A lesson is one TOML file, which docs/lessons.md describes; reading.py reads it, and links.py puts it into a link.
answers.py is a student's file, judging.py judges it by the lesson and by nothing that the file says, and
`python -m inspector.lessons collect *.json` makes a table of many. Nothing here imports torch, but for --judge.
"""

from inspector.lessons.answers import Answers
from inspector.lessons.judging import Judged, judge
from inspector.lessons.lesson import Lesson
from inspector.lessons.reading import read
from inspector.lessons.shipped import SHIPPED, shipped

__all__ = ["SHIPPED", "Answers", "Judged", "Lesson", "judge", "read", "shipped"]
