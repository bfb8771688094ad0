"""`python -m warpbound`: the command line."""

from warpbound.cli import main

if __name__ == "__main__":
    main(prog_name="warpbound")
