"""``python -m floorflow.jobs modules|card|point NAME``: one job of the Snakefile in this folder."""

import sys


def main(words: list[str]) -> int:
    """Do a job, importing what it needs alone: there may be hundreds."""
    if words[0] == "point":
        from floorflow.jobs.points import main as planned

        return planned(words[1:])
    from floorflow.jobs.work import main as made

    return made(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
