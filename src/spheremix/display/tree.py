"""A tree of groups as a dendrogram, the words of its nodes written on the branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.display.style import CLUSTERS, INK, Display, readable, shown
from spheremix.reading.reading import require_model
from spheremix.reading.tree import tree_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spheremix.reading.tree import TreeNode

    Array = NDArray[np.float64]

ROW = 0.235  # inches a leaf
LETTER = 34  # characters of the words of a leaf
MARGIN = 1.1  # letters are wider in some files than they were measured


class TreeDisplay(Display):
    """A tree of groups: leaves on the right, the merge of the last two on the left.

    A node stands at the loss of its merge, on a scale of square roots. On the branch of a node,
    the words that tell it from its sibling, as many as there is room for; behind a leaf, its size
    and the words that tell it from the rest. Colours are the groups of a cut.

    Parameters
    ----------
    nodes : sequence of TreeNode
        As :func:`spheremix.reading.tree_nodes` returns them.
    n_clusters : int, default=1
        Colour the branches of the cut into so many groups.

    Attributes
    ----------
    ax_ : Axes
        Where it was drawn.
    figure_ : Figure
        The figure.
    words_ : dict of int to Text
        What was written on the branches, by node.
    leaves_ : list of Text
        What was written behind the leaves.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> tree = sm.VMFTree(6, random_state=0).fit(X)
    >>> display = sm.TreeDisplay.from_estimator(tree)
    >>> len(display.leaves_)
    6
    """

    def __init__(self, nodes: Sequence[TreeNode], n_clusters: int = 1) -> None:
        self.nodes = nodes
        self.n_clusters = n_clusters

    @classmethod
    def of(
        cls,
        tree: Any,
        feature_names: Iterable[str] | None = None,
        *,
        n_clusters: int | None = None,
        n_words: int = 4,
    ) -> Self:
        """Compute what :meth:`from_estimator` draws."""
        require_model(tree, "hierarchy_")
        number = tree.n_clusters_ if n_clusters is None else n_clusters
        if not 1 <= number <= tree.n_leaves_:
            raise ValueError(f"n_clusters must be in 1..{tree.n_leaves_}, got {number}.")
        return cls(tree_nodes(tree, feature_names, n_words=n_words), number)

    @classmethod
    def from_estimator(
        cls,
        tree: Any,
        feature_names: Iterable[str] | None = None,
        *,
        n_clusters: int | None = None,
        n_words: int = 4,
        ax: Any = None,
    ) -> Self:
        """Draw a tree.

        Parameters
        ----------
        tree : VMFTree
            Fitted.
        feature_names : iterable of str, default=None
            The vocabulary.
        n_clusters : int, default=None
            Colour the branches of the cut into so many groups; ``n_clusters_`` by default.
        n_words : int, default=4
            Words of a node, at most.
        ax
            As in :meth:`plot`.

        Returns
        -------
        TreeDisplay
            Drawn.
        """
        return cls.of(tree, feature_names, n_clusters=n_clusters, n_words=n_words).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 10.0, 0.8 + ROW * (len(self.nodes) + 1) / 2

    def _draw(self, ax: Any) -> None:
        self.ax_ = self._axes(ax)[0]
        places, colours = self._places(), self._colours()
        self._set_scale()
        for node in self.nodes:
            self._branch(node, places, colours)
        self._scale()
        self.leaves_ = [self._leaf(node, colours) for node in self.nodes if not node.children]
        self.figure_.draw_without_rendering()
        self.words_: dict[int, Any] = {}
        for node in self.nodes:
            self._write(node, places, colours)

    def _set_scale(self) -> None:
        """Say where leaves and the root end: leaves a little below the cheapest merge."""
        heights = np.sqrt([node.height for node in self.nodes if node.children] or [1.0])
        self._left, self._right = 1.08 * float(heights.max()), 0.85 * float(heights.min())
        if self._left <= self._right:  # merges that cost nothing
            self._left = 1.0

    def _places(self) -> Array:
        """Return the height in the picture of each node: a leaf its number, others the middle."""
        places = np.zeros(len(self.nodes))
        for node in self.nodes:  # children have smaller numbers
            places[node.node] = places[list(node.children)].mean() if node.children else node.node
        return places

    def _colours(self) -> list[str]:
        """Return the colour of each node: that of its group in the cut, or ink above the cut."""
        first_merge = len(self.nodes) + 1 - self.n_clusters  # nodes from here on are above the cut
        colours = [INK] * len(self.nodes)
        roots = [
            node.node
            for node in self.nodes
            if node.node < first_merge and (node.parent is None or node.parent >= first_merge)
        ]
        places = self._places()
        for i, root in enumerate(sorted(roots, key=lambda root: places[root])):
            waiting = [root]
            while waiting:
                one = waiting.pop()
                colours[one] = CLUSTERS[i % len(CLUSTERS)]
                waiting += self.nodes[one].children
        return colours

    def _x(self, node: int | None) -> float:
        if node is None:
            return self._left
        merged = self.nodes[node].children
        return float(np.sqrt(self.nodes[node].height)) if merged else self._right

    def _branch(self, node: TreeNode, places: Array, colours: list[str]) -> None:
        """Draw the line from a node to its parent, and the one that joins its children."""
        line: dict[str, Any] = {"color": colours[node.node], "lw": 1.3, "solid_capstyle": "round"}
        here = self._x(node.node)
        self.ax_.plot([here, self._x(node.parent)], [places[node.node]] * 2, **line)
        if node.children:
            self.ax_.plot([here] * 2, places[list(node.children)], **line)

    def _scale(self) -> None:
        ax, M = self.ax_, (len(self.nodes) + 1) // 2
        ax.set(xlim=(self._left, self._right), ylim=(M - 0.4, -0.6), yticks=[])
        places = np.linspace(self._left, self._right, 6)
        ticks = [float(f"{place**2:.2g}") for place in places]
        ax.set_xticks(
            np.sqrt(ticks), [f"{tick:,.0f}" if tick > 9 else f"{tick:g}" for tick in ticks]
        )
        ax.set_xlim(self._left, self._right)
        ax.set_xlabel("loss of likelihood by the merge (nats)")
        ax.spines[["top", "right", "left"]].set_visible(False)

    def _leaf(self, node: TreeNode, colours: list[str]) -> Any:
        words = shown(" ".join(node.against_rest), LETTER)
        return self.ax_.annotate(
            f"{node.size:,.0f}  {words}",
            (self._right, node.node),
            (4.0, 0.0),
            textcoords="offset points",
            color=readable(colours[node.node]),
            fontsize=7,
            ha="left",
            va="center",
            annotation_clip=False,
            parse_math=False,
        )

    def _write(self, node: TreeNode, places: Array, colours: list[str]) -> None:
        """Write as many words of a node on its branch as there is room for."""
        begin = self._x(node.parent)
        words = node.against_sibling if node.parent is not None else node.against_rest
        if not node.children or not words:
            return
        to_pixels = self.ax_.transData.transform
        room = to_pixels((self._x(node.node), 0.0))[0] - to_pixels((begin, 0.0))[0]
        for n in range(len(words), 0, -1):
            text = self.ax_.annotate(
                shown(" ".join(words[:n]), 60),
                (begin, places[node.node]),
                (2.5, 1.0),
                textcoords="offset points",
                color=readable(colours[node.node]),
                fontsize=6,
                ha="left",
                va="bottom",
                parse_math=False,
            )
            if MARGIN * text.get_window_extent().width + 3.0 <= room:
                self.words_[node.node] = text
                return
            text.remove()
