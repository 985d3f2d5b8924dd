"""What the paper says, each sentence with our number under it; here, section 4.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments import printed
from experiments.drawing import read
from experiments.path_illustration import SAME

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, what was found here, and whether they agree.

    Attributes
    ----------
    says : str
        The claim, in our words.
    found : str
        Our numbers.
    holds : bool
        Whether they agree.
    why : str
        Why not, where they do not.
    partly : bool
        Whether a part of it agrees all the same; ``why`` then says which does not.
    """

    says: str
    found: str
    holds: bool
    why: str = ""
    partly: bool = False

    @property
    def verdict(self) -> str:
        """Return the judgement."""
        if self.holds:
            return "confirmed"
        return "partly confirmed" if self.partly else "not confirmed"

    def lines(self) -> list[str]:
        """Return the claim as an item of a list."""
        verdict = f"**{self.verdict}**" + f": {self.why}" * (not self.holds)
        return [f"- {self.says}", f"  *Here:* {self.found} {verdict}", ""]


def listed(values: Any, pattern: str = "{:.2f}") -> str:
    """Write numbers one after another."""
    return ", ".join(pattern.format(value) for value in values)


def path(results: Path) -> list[Claim]:
    """Return the claims of section 4.2."""
    steps, summary = read(results, "path_steps"), read(results, "path_summary")
    return [*_course(steps, summary), *_starts(steps, summary)]


def _m_steps(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the lines of the exact M-step, and those of the paper's."""
    return table[table["m_step"] == "exact"], table[table["m_step"] == "paper"]


def _course(steps: pd.DataFrame, summary: pd.DataFrame) -> list[Claim]:
    """Judge how long paths are, how they end, and what sparsity does to the BIC."""
    exact, paper = _m_steps(summary)
    own, _ = _m_steps(steps)
    first = own[own["data"] == 0]
    best = first.loc[first["bic"].idxmin()]
    dense_bic = first.iloc[0]["bic"]
    failed = int((paper["end"] == "zero_prototype").sum())
    return [
        Claim(
            f"The path has {printed.PATH_STEPS} steps.",
            f"{exact['steps'].min()} to {exact['steps'].max()} over {len(exact)} data sets, median "
            f"{exact['steps'].median():g}; {paper['steps'].min()} to {paper['steps'].max()} with "
            "the paper's M-step. One data set is shown there, whose seed is not given.",
            paper["steps"].min() <= printed.PATH_STEPS <= paper["steps"].max(),
            "other data sets have longer paths.",
        ),
        Claim(
            "At the last step EM does not converge to four components.",
            f"with the paper's M-step {failed} of {len(paper)} paths end so, with a prototype "
            "thresholded to nothing. The exact M-step has an answer at every beta, and "
            f"{int((exact['end'] == 'maximal_sparsity').sum())} of {len(exact)} paths end at one "
            "coordinate a prototype.",
            failed > len(paper) / 2,
            "few of them do.",
        ),
        Claim(
            f"Some sparsity lowers the BIC a little, around step {printed.BIC_STEP}.",
            f"on the first data set the BIC goes from {dense_bic:.0f} to {best['bic']:.0f} at step "
            f"{int(best['step'])}, where {best['sparsity']:.0%} of the coordinates are zero.",
            bool(best["bic"] < dense_bic),
            "the dense solution has the smallest BIC.",
        ),
    ]


def _starts(steps: pd.DataFrame, summary: pd.DataFrame) -> list[Claim]:
    """Judge the path against a start of its own at every beta: dense, or ten random ones."""
    exact, paper = _m_steps(summary)
    own, of_paper = _m_steps(steps)
    extra = exact["dense_iterations"].sum() / exact["path_iterations"].sum() - 1
    extra_paper = paper["dense_iterations"].sum() / paper["path_iterations"].sum() - 1
    same_dense = float((own["dense_difference"] <= SAME).mean())
    same = own["random_difference"] <= SAME
    better = own["random_gain"] > 0.5
    same_paper = float((of_paper["random_difference"].dropna() <= SAME).mean())
    ratio = exact["random_iterations"].sum() / exact["path_iterations"].sum()
    ratio_paper = paper["random_iterations"].sum() / paper["path_iterations"].sum()
    rates, rates_exact = _rates(of_paper), _rates(own)
    return [
        Claim(
            "Starting every beta from the dense solution gives the same estimates, with "
            f"{printed.DENSE_EXTRA:.0%} more iterations.",
            f"the same at {same_dense:.1%} of the steps (no coordinate differs by more than "
            f"{SAME:g}), with {extra:.0%} more iterations, {extra_paper:.0%} more with the paper's "
            "M-step.",
            same_dense == 1 and extra > 0,
            f"the estimates differ at {1 - same_dense:.1%} of the steps.",
            partly=same_dense > 0.9 and extra > 0,
        ),
        Claim(
            "Ten random starts a beta give the same estimates too, for about "
            f"{printed.RANDOM_RATIO} times the work (judged with the paper's M-step).",
            f"with the paper's M-step {same_paper:.1%} are the same where some start converges, "
            f"for {ratio_paper:.0f} times the iterations. With the exact one {same.mean():.1%}, "
            f"for {ratio:.0f} times the iterations; at {better.mean():.1%} of the steps random "
            "starts find an objective better by more than half a nat, and elsewhere a worse one: "
            "late on the path there are many local optima.",
            same_paper == 1 and ratio_paper > printed.RANDOM_RATIO / 2,
            f"{1 - same_paper:.1%} of the estimates differ, and the work is "
            f"{ratio_paper:.0f} times as much.",
            partly=same_paper > 0.9,
        ),
        Claim(
            "A large number of the random starts does not converge for large beta.",
            f"with the paper's M-step {rates[0]:.0%} converge in the first third of the path, "
            f"{rates[1]:.0%} in the last. With the exact M-step it is {rates_exact[0]:.0%} and "
            f"{rates_exact[1]:.0%}: what fails is the M-step, not EM.",
            rates[1] < 0.5 < rates[0],
            "most of them do.",
        ),
    ]


def _rates(steps: pd.DataFrame) -> tuple[float, float]:
    """Return the share of converging random starts in the first and the last third of the paths."""
    place = steps["step"] / steps.groupby("data")["step"].transform("max")
    rate = steps["random_converged"] / steps["n_init"]
    return float(rate[place <= 1 / 3].mean()), float(rate[place > 2 / 3].mean())
