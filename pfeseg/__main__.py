"""Run the command line as ``python -m pfeseg``."""

from pfeseg.cli import main

main(prog_name="pfeseg")
