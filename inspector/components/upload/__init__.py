"""A button that reads a small text file: `index.js` looks at its size before it reads it."""
