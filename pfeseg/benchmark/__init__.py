"""The paper's experiment on a data set: runs, tables and figures."""
