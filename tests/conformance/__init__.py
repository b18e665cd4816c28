"""One small program for every intrinsic, operator and rule of the language, in every kind of dtype.

`rows` says what a row is, `table` gathers the rows of the other files, `running` judges a row, `page` prints the matrix
that `docs/conformance.md` keeps, and `python -m tests.conformance` (`make conformance`) does all of it.
"""
