"""Plants faults in the models and counts how many the golden cases of their own paper notice.

    python tests/mutation [WANTED] [PAPER ...]

Every file of src/warpbound/models has its share of WANTED mutants (330 unless told). The last line has the figure;
survivors are listed before it. A mutant that runs for 30 s counts as noticed. Exit code 1 below 85 %.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from mutants import Mutant, sample  # noqa: E402

MODELS = HERE.parents[1] / "src" / "warpbound" / "models"
GOAL = 0.85


def files(papers: Sequence[str]) -> list[Path]:
    """The sources of the models, of all papers or of some."""
    found = sorted(path for path in MODELS.rglob("*.py") if path != MODELS / "__init__.py")
    return [path for path in found if not papers or paper(path) in papers]


def paper(path: Path) -> str:
    """The book of golden cases that speaks of a file."""
    return path.relative_to(MODELS).parts[0].removesuffix(".py")


def noticed(mutant: Mutant) -> bool:
    """Whether a golden case of its paper fails."""
    inside = mutant.path.relative_to(MODELS.parents[1]).with_suffix("")
    module = ".".join(inside.parts).removesuffix(".__init__")
    command = [sys.executable, str(HERE / "trial.py"), module, paper(mutant.path)]
    try:
        tried = subprocess.run(command, input=mutant.source, text=True, capture_output=True, timeout=30)
    except subprocess.TimeoutExpired:
        return True
    return tried.returncode != 0


def main(wanted: int, papers: Sequence[str]) -> int:
    chosen = sample(files(papers), wanted)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = []
        for number, verdict in enumerate(pool.map(noticed, chosen), 1):
            verdicts.append(verdict)
            if number % 20 == 0:
                print(f"{number} of {len(chosen)}, {sum(verdicts)} noticed", file=sys.stderr)
    for mutant, found in zip(chosen, verdicts, strict=True):
        if not found:
            print(f"{mutant.path.relative_to(MODELS)}:{mutant.line}: {mutant.change}")
    share = sum(verdicts) / len(verdicts)
    print(f"{sum(verdicts)} of {len(verdicts)} mutants noticed, {100 * share:.1f} %")
    return int(share < GOAL)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    sys.exit(main(numbers[0] if numbers else 330, [word for word in sys.argv[1:] if not word.isdigit()]))
