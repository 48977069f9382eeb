"""The questions, a file a theme: each record stands under the function that measures it."""
