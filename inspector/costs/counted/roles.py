"""The component of each product, by where its operands come from: q is what reaches the left of the scores.

The rule, in this order; all within one layer:
1. A product of two activations, one of them behind a softmax, or a sigmoid of products of two activations, is mix; what
   is multiplied before is scores.
2. A learned product that reaches the left of scores is q, their right k, the other side of mix v. One product may be
   several: by the columns of its output that arrive there.
3. The first learned product behind mix is out; one whose largest outputs are looked for is the router.
4. A learned product that feeds only such products is of their kind (the latents of MLA).
5. A learned product made from nothing but other learned products is down. Its source is the gate where an
   activation acts on it and it is multiplied with another, else up.
6. Products behind the layers are the head's, before them the embedding's.
Two activations multiplied without a softmax make a mixer of the whole module around; so does a convolution over tokens.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from inspector.costs.counted.components import KINDS, PARTS
from inspector.costs.counted.flow import TARGET
from inspector.costs.counted.tracing import Operand, TracedProduct
from models.attention import Stream
from models.loaded import Shape

Shares = dict[str, Fraction]
_ATTENTION = ("q", "k", "v")
_ORDER = tuple(KINDS)
_EXPERTS = re.compile(r"(?<!shared_)experts\b")
_ADAPTER = re.compile(r"adapter", re.IGNORECASE)
_INDEX = re.compile(r"index", re.IGNORECASE)
_MIXER = re.compile(r"mamba|mixer|ssm|linear_attn|recurrent|delta|rwkv|short_conv|\bconv\b", re.IGNORECASE)


@dataclass(frozen=True)
class ProductRole:
    """The component of a product. shares: of its output's columns, by component; they add up to 1."""

    stream: Stream
    layer: int | None
    part: str
    shares: tuple[tuple[str, Fraction], ...]


def assign(products: list[TracedProduct], *, shape: Shape, output: str | None) -> list[ProductRole]:
    """Find the role of every product of a run.

    output: the name of the parameter that turns states into scores of the vocabulary, None where there is none.
    """
    return _Assignment(products, shape=shape, output=output).roles()


class _Assignment:
    def __init__(self, products: list[TracedProduct], *, shape: Shape, output: str | None) -> None:
        self.products, self.shape, self.output = products, shape, output
        self.shares: dict[int, Shares] = {}
        self.parts: dict[int, str] = {}
        self.reached: dict[int, Fraction] = {}  # the share of a product's columns that attention reads themselves
        self.by_layer: dict[object, list[int]] = defaultdict(list)
        for number, product in enumerate(products):
            self.by_layer[product.layer].append(number)

    def roles(self) -> list[ProductRole]:
        outside = self.by_layer.pop(None, [])
        for numbers in self.by_layer.values():
            self._layer(numbers)
        self._outside(outside)
        streams = self._streams()
        return [
            ProductRole(
                streams[number],
                None if product.layer is None else product.layer[1],
                self._part(number),
                tuple(sorted(self.shares[number].items(), key=lambda item: _ORDER.index(item[0]))),
            )
            for number, product in enumerate(self.products)
        ]

    # --- a layer ------------------------------------------------------------------------------------------------

    def _layer(self, numbers: list[int]) -> None:
        learned = [number for number in numbers if self._is_learned(number)]
        pairs = [number for number in numbers if not self._is_learned(number)]
        for number in numbers:
            product = self.products[number]
            if not (product.left.inputs | product.right.inputs):
                self._is(number, "positions")
        mixes = self._mixes(numbers)
        softened = dict.fromkeys(other for mix in mixes for other in self._soft(mix).products)
        scores = [number for number in softened if number in set(numbers) and number not in mixes]
        for number in mixes:
            self._is(number, "mix")
        for number in scores:
            self._is(number, "scores")
        self._mixers(numbers, pairs, learned)
        self._queries(mixes, [number for number in scores if number in set(pairs)], set(learned))
        self._behind(learned, set(mixes))
        self._chains(learned)
        self._ffn(learned)
        for number in numbers:
            if number not in self.shares:
                self._is(number, "projection" if number in set(learned) else "mixer")
                if number in set(learned):
                    self.parts[number] = "attention" if self._beside(number, mixes) else "ffn"

    def _mixes(self, numbers: list[int]) -> list[int]:
        """Products with the outcome of a softmax on one side, and something multiplied before that softmax."""
        mixes = []
        for number in numbers:
            product = self.products[number]
            soft = [side for side in (product.left, product.right) if side.soft]
            if len(soft) == 1 and any(
                other >= 0 and (not self._is_learned(other)) for other in soft[0].products if other in set(numbers)
            ):
                mixes.append(number)
        return mixes

    def _soft(self, mix: int) -> Operand:
        product = self.products[mix]
        return product.left if product.left.soft else product.right

    def _mixers(self, numbers: list[int], pairs: list[int], learned: list[int]) -> None:
        """Find what mixes tokens without a softmax, with all products of the module around it."""
        attends = {self.products[number].path for number in numbers if self.shares.get(number, {}).get("mix")}
        for number in pairs:
            product = self.products[number]
            if number in self.shares:
                continue
            self._module(product.path, numbers, attends, "index" if product.chosen else "mixer")
        for number in learned:
            product = self.products[number]
            if product.kernel > 1:
                parent = product.path.rpartition(".")[0]
                self._is(number, "mixer")
                self._module(parent, numbers, attends, "mixer")
        for number in numbers:
            path = self._inside(number)
            for pattern, name in ((_ADAPTER, "adapter"), (_INDEX, "index"), (_MIXER, "mixer")):
                if number not in self.shares and pattern.search(path):
                    self._is(number, name)

    def _module(self, path: str, numbers: list[int], attends: set[str], name: str) -> None:
        """Give every product of a module one component, unless attention runs in the module."""
        layer = self.products[numbers[0]].layer
        depth = layer[0].count(".") + 1 if layer else 0
        attends_too = any(other == path or other.startswith(f"{path}.") for other in attends)
        if attends_too or path.count(".") <= depth:  # the layer itself is no mixer
            return
        for number in numbers:
            made_by = self.products[number].path
            if made_by == path or made_by.startswith(f"{path}."):
                self.shares.setdefault(number, {name: Fraction(1)})

    def _queries(self, mixes: list[int], scores: list[int], learned: set[int]) -> None:
        bits: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        width = 0

        def reach(operand: Operand, name: str) -> None:
            for number, (plain, acted) in operand.products.items():
                if number in learned and number not in self.shares:
                    bits[number][name] |= plain | acted

        for number in scores:
            product = self.products[number]
            if _of_text(product.left) and _of_text(product.right):
                reach(product.left, "q")
                reach(product.right, "k")
                width = max(width, product.left.shape[-1] * (product.left.shape[0] if product.left.shape else 1))
        for number in mixes:
            product = self.products[number]
            reach(product.right if product.left.soft else product.left, "v")
        for number, reached in bits.items():
            columns = self.products[number].columns
            self.shares[number] = _split(reached, columns, width)
            self.reached[number] = Fraction(min(sum(mask.bit_count() for mask in reached.values()), columns), columns)

    def _behind(self, learned: list[int], mixes: set[int]) -> None:
        """The products behind mix, and those whose largest outputs are looked for."""
        free = set(learned)
        for number in learned:
            product = self.products[number]
            if number in self.shares:
                continue
            sources = set(product.data.products)
            if product.chosen:
                self._is(number, "router")
            elif sources & mixes and all(self._is_beside(source, mixes, free) for source in sources):
                self._is(number, "out")
                for other in sources - mixes - self.shares.keys():
                    self._is(other, "gate", part="attention")

    def _is_beside(self, number: int, mixes: set[int], learned: set[int]) -> bool:
        """Tell what may reach the product behind mix beside it: a gate, a convolution; no residual stream."""
        return number in mixes or (number in learned and self.shares.get(number, {"mixer": 1}).keys() == {"mixer"})

    def _chains(self, learned: list[int]) -> None:
        """Products that feed nothing but products whose component is known, and those from nothing else."""
        users: dict[int, list[int]] = defaultdict(list)
        for number in learned:
            for source in self.products[number].data.products:
                users[source].append(number)
        known = {"q", "k", "v", "router", "index", "positions"}
        for number in reversed(learned):
            product = self.products[number]
            if number in self.shares and not (self.shares[number].keys() <= set(_ATTENTION)):
                continue
            through = [user for user in users[number] if user in set(learned) and self._only_learned(user, learned)]
            through = [user for user in through if self.shares.get(user) and self.shares[user].keys() <= known]
            if not through:
                continue
            total: Shares = defaultdict(Fraction)
            for user in through:
                plain, acted = self.products[user].data.products[number]
                part = Fraction((plain | acted).bit_count(), product.columns)
                for name, share in self.shares[user].items():
                    total[name] += part * share
            if number in self.shares:  # some columns reach the scores by themselves (RoPE's of MLA's keys)
                for name, share in self.shares[number].items():
                    total[name] += share * self.reached.get(number, Fraction(1))
            whole = sum(total.values())
            self.shares[number] = {name: share / whole for name, share in total.items()}

    def _only_learned(self, number: int, learned: list[int]) -> bool:
        sources = self.products[number].data.products
        return bool(sources) and all(source in set(learned) for source in sources)

    def _ffn(self, learned: list[int]) -> None:
        inside = set(learned)
        for number in learned:
            if number in self.shares:
                continue
            sources = {
                source: columns
                for source, columns in self.products[number].data.products.items()
                if not self.shares.get(source, {}).get("router")
            }
            if not sources or not all(
                source in inside and set(self.shares.get(source, {"up": 1})) <= {"up", "gate"} for source in sources
            ):
                continue
            self._is(number, "down")
            self._up(sources)

    def _up(self, sources: dict[int, tuple[int, int]]) -> None:
        """Tell gates from ups among what a down comes from."""
        plain_somewhere = any(plain & ~acted for plain, acted in sources.values())
        acted_somewhere = any(acted & ~plain for plain, acted in sources.values())
        for source, (plain, acted) in sources.items():
            if source in self.shares:
                continue
            columns = (plain | acted).bit_count()
            gates = (acted & ~plain).bit_count() if plain_somewhere and acted_somewhere else 0
            shares = {"gate": Fraction(gates, columns), "up": Fraction(columns - gates, columns)}
            self.shares[source] = {name: share for name, share in shares.items() if share}

    # --- outside the layers -------------------------------------------------------------------------------------

    def _outside(self, numbers: list[int]) -> None:
        layered = [number for number, product in enumerate(self.products) if product.layer is not None]
        first = min(layered, default=0)
        last: list[int] = []
        for number in reversed(numbers):
            product = self.products[number]
            if number in self.shares:
                continue
            if not (product.left.inputs | product.right.inputs):
                self._is(number, "positions")
            elif number < first or any(number < other for other in layered):
                self._is(number, "projection")
            elif product.weight is not None and (
                product.weight == self.output or re.search("lm_head|predictions.decoder", product.weight)
            ):
                self._is(number, "lm_head")
                last.append(number)
            elif any(set(self.products[user].data.products) == {number} for user in last):
                user = next(user for user in last if set(self.products[user].data.products) == {number})
                self._is(number, "lm_head" if self.shares[user].get("lm_head") else "pooler")
                last.append(number)
            elif re.search("pool", product.path):
                self._is(number, "pooler")
            else:
                self._is(number, "classifier")
                last.append(number)

    # --- streams and parts --------------------------------------------------------------------------------------

    def _streams(self) -> list[Stream]:
        if self.shape != "encoder-decoder":
            return [self.shape] * len(self.products)
        streams: list[Stream] = []
        for product in self.products:
            target = (product.left.inputs | product.right.inputs) & TARGET
            streams.append("decoder" if target or (product.layer and "decoder" in product.layer[0]) else "encoder")
        for number, product in enumerate(self.products):
            kind = self.shares[number]
            across = product.left if kind.get("mix") and product.right.soft else product.right
            ours = (kind.get("scores") or kind.get("mix")) and streams[number] == "decoder" and product.layer
            if ours and not across.inputs & TARGET:
                self._cross(number, streams)
        return streams

    def _cross(self, number: int, streams: list[Stream]) -> None:
        """Mark scores or mix with the source's keys or values, what feeds them, and what follows."""
        streams[number] = "cross"
        product = self.products[number]
        for source in (*product.left.products, *product.right.products):
            beside = source >= 0 and self.products[source].layer == product.layer
            if beside and set(self.shares[source]) <= {*_ATTENTION, "positions"}:
                streams[source] = "cross"
        for other in self.by_layer[product.layer]:
            if number in self.products[other].data.products and self.shares[other].get("out"):
                streams[other] = "cross"

    def _part(self, number: int) -> str:
        if number in self.parts:
            return self.parts[number]
        component = next(iter(self.shares[number]))
        part = PARTS.get(component, component)
        product = self.products[number]
        if part == "ffn" and self._is_expert(product):
            return "experts"
        return part

    def _is_expert(self, product: TracedProduct) -> bool:
        side = product.right if product.right.weight else product.left
        return bool(_EXPERTS.search(product.weight or "")) or (bool(product.weight) and len(side.shape) == 3)

    # --- words --------------------------------------------------------------------------------------------------

    def _is(self, number: int, component: str, *, part: str | None = None) -> None:
        self.shares[number] = {component: Fraction(1)}
        if part is not None:
            self.parts[number] = part

    def _is_learned(self, number: int) -> bool:
        product = self.products[number]
        return product.weight is not None

    def _inside(self, number: int) -> str:
        """The path of a product's module below its layer."""
        product = self.products[number]
        path = product.weight or product.path
        return path[len(product.layer[0]) + 1 :].partition(".")[2] if product.layer else path

    def _beside(self, number: int, mixes: list[int]) -> bool:
        path = self.products[number].path
        return any(path.startswith(self.products[mix].path) for mix in mixes)


def _of_text(operand: Operand) -> bool:
    """Tell a side that comes from the text, or from a cache of it, from a table of positions."""
    return bool(operand.inputs) or (not operand.products and not operand.weight)


def _split(reached: dict[str, int], columns: int, width: int) -> Shares:
    """The share of each of q, k and v in one product: by columns, by widths where the columns are not known."""
    names = [name for name in _ATTENTION if reached.get(name)]
    counts = {name: reached[name].bit_count() for name in names}
    whole = sum(counts.values())
    if whole == columns or len(names) == 1:
        return {name: Fraction(count, whole) for name, count in counts.items()}
    if whole > columns and "q" in names and width and width < columns:
        rest = columns - width
        others = [name for name in names if name != "q"]
        return {"q": Fraction(width, columns), **{name: Fraction(rest, columns * len(others)) for name in others}}
    return {name: Fraction(count, whole) for name, count in counts.items()}
