"""The page Lessons: a teacher's steps in an order, what a reader answers, and the file that is handed in."""
