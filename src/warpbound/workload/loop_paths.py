"""The heaviest path through a control flow graph that takes each loop on it once.

Models   loops as single nodes of the graph around them, from the inside out; the rest has no cycles.
         One pass of a loop leads from its header to a branch back to it. Where it is left from another block, it
         is entered once more, up to that block: a loop tested at its top runs test, body, test.
Omits    cycles entered in several places (irreducible): a path is cut where it would come back.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from warpbound.program.control_flow import Flow, reverse_postorder
from warpbound.quick_dataclasses import dataclass

Cost = tuple[int, float]  # blocks to avoid, counted negative; weight. The greater is the better path


@dataclass(frozen=True)
class LoopPaths:
    """LoopPaths through `graph`.

    weights : one per block. avoid : blocks used only if there is no other path. ends : blocks where a path may
    end although others follow them (a conditional exit).
    """

    graph: Flow
    weights: tuple[float, ...]
    avoid: frozenset[int] = frozenset()
    ends: frozenset[int] = frozenset()

    def whole(self, start: int) -> tuple[int, ...]:
        """Blocks from `start` to an end."""
        return _Region(self, start, self.graph.reachable, None).path()

    def once(self, loop: int) -> tuple[int, ...]:
        """Blocks of one pass of loop number `loop`."""
        return self._passes[loop]

    def cost(self, blocks: Sequence[int]) -> Cost:
        """Of a path along `blocks`."""
        return -sum(block in self.avoid for block in blocks), sum(self.weights[block] for block in blocks)

    @cached_property
    def _passes(self) -> dict[int, tuple[int, ...]]:
        """Loop number -> its pass; inner loops first, for those around them."""
        loops = self.graph.loops
        passes: dict[int, tuple[int, ...]] = {}
        for number in sorted(range(len(loops)), key=lambda n: -loops[n].depth):
            passes[number] = _Region(self, loops[number].header, loops[number].blocks, number, passes).path()
        return passes


class _Region:
    """A loop, or the whole, with each loop right inside it as one node: block b is node b, loop k node -1 - k."""

    def __init__(
        self,
        paths: LoopPaths,
        start: int,
        inside: frozenset[int],
        loop: int | None,
        passes: Mapping[int, tuple[int, ...]] | None = None,
    ) -> None:
        self.paths, self.start = paths, start
        self.passes = paths._passes if passes is None else passes
        self.home = None if loop is None else start  # where a pass ends by coming back to it
        self.node = {block: block for block in inside}
        self.members: dict[int, frozenset[int]] = {}
        for number, inner in enumerate(paths.graph.loops):
            if inner.parent == loop and inner.header in inside:
                self.node |= dict.fromkeys(inner.blocks, -1 - number)
                self.members[-1 - number] = inner.blocks

    def path(self) -> tuple[int, ...]:
        """Blocks of the heaviest path, in order."""
        best = self._best()
        blocks: list[int] = []
        node: int | None = self.node[self.start]
        while node is not None:
            after = best[node][1]
            blocks += self._through(node, after)
            node = after
        return tuple(blocks)

    def _best(self) -> dict[int, tuple[Cost, int | None]]:
        """Node -> cost of the best path from it on, and its next node (None: the path ends)."""
        order = reverse_postorder([self.node[self.start]], self._onward)
        rank = {node: place for place, node in enumerate(order)}
        best: dict[int, tuple[Cost, int | None]] = {}
        for node in reversed(order):
            choices: list[tuple[Cost, int | None]] = [
                (best[after][0], after) for after in self._onward(node) if rank[after] > rank[node]
            ]
            if not choices or self._may_end(node):
                choices.append(((0, 0.0), None))
            (avoided, weight), step = max(choices, key=lambda choice: choice[0])
            own = self.paths.cost(self.passes[-1 - node] if node < 0 else (node,))
            best[node] = ((avoided + own[0], weight + own[1]), step)
        return best

    def _onward(self, node: int) -> tuple[int, ...]:
        """Nodes that follow inside the region."""
        targets = (self.node[t] for b in self._blocks(node) for t in self._follows(b))
        return tuple(dict.fromkeys(target for target in targets if target != node))

    def _may_end(self, node: int) -> bool:
        if self.home is not None:
            return any(self.home in self._follows(block) for block in self._blocks(node))
        return any(block in self.paths.ends for block in self._blocks(node))

    def _blocks(self, node: int) -> Sequence[int]:
        return (node,) if node >= 0 else sorted(self.members[node])

    def _follows(self, block: int) -> Sequence[int]:
        return [target for target in self.paths.graph.blocks[block].follows if target in self.node]

    def _through(self, node: int, after: int | None) -> tuple[int, ...]:
        """Blocks of a node on the path to the next one (None: to the end, or back to where the pass began)."""
        if node >= 0:
            return (node,)
        once = self.passes[-1 - node]
        leaving = {b for b in self.members[node] if any(self._leads(t, after) for t in self._follows(b))}
        if not leaving or once[-1] in leaving:
            return once
        exits = [place for place, block in enumerate(once) if block in leaving]
        return once + (once[: exits[0] + 1] if exits else self._shortest(once[0], leaving, self.members[node]))

    def _leads(self, target: int, after: int | None) -> bool:
        return target == self.home if after is None else self.node[target] == after and target != self.home

    def _shortest(self, start: int, goals: set[int], inside: frozenset[int]) -> tuple[int, ...]:
        paths: list[tuple[int, ...]] = [(start,)]
        visited = {start}
        for path in paths:
            if path[-1] in goals:
                return path
            for target in self._follows(path[-1]):
                if target in inside and target not in visited:
                    visited.add(target)
                    paths.append((*path, target))
        return ()
