"""The count of a model: rows, the polynomial of each, and its parameters, from the configuration alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from inspector.costs.counted import parameters, subject
from inspector.costs.counted.components import KINDS
from inspector.costs.counted.masks import MaskRule
from inspector.costs.counted.polynomials import Basis, Lengths, evaluate, fit
from inspector.costs.counted.roles import ProductRole, assign
from inspector.costs.counted.rows import CostPlace
from inspector.costs.counted.subject import MetaModel, NoCacheError
from inspector.costs.counted.tracing import TracedProduct
from models.attention import Stream
from models.huggingface.block_sparse import longest_in_full
from models.loaded import Shape
from models.transformer.config import TransformerConfig

OnProgress = Callable[[int, int], object]
MOST_TOKENS = 10**9
_FITTED = (6, 9, 14, 23)  # lengths; three make a parabola, the fourth proves it
_LOCAL = re.compile(r"window|chunk|block_size|radius|local_attention|index_topk|lsh_|segment_means")
_STAND_INS = (6, 16)  # short widths, distinguishable from their halves and neighbours
_MASKED = (20, 19)  # tokens of source and target, of which masks are looked at
_LONGEST_LOOP = 700  # tokens, where a loop over them makes more products the longer the text is


@dataclass(frozen=True)
class Formula:
    """A polynomial for each row. rows: the coefficients, in the order of the basis' terms."""

    basis: Basis
    rows: Mapping[CostPlace, tuple[int, ...]]


@dataclass(frozen=True)
class CountedCosts:
    """The costs of a model, counted by running its own code on the meta device.

    shape: the model's. parameters: the sum of `numel` over its parameters, shared ones once. formula: of one forward;
    None where no polynomial was proven, and every length is counted anew.
    """

    shape: Shape
    parameters: int
    formula: Formula | None
    _parameters: Mapping[CostPlace, int] = field(repr=False)
    _order: tuple[CostPlace, ...] = field(repr=False)
    _model: _Model = field(repr=False, compare=False)

    def table(self, *, tokens: int = 128, target_tokens: int | None = None) -> pd.DataFrame:
        """Cost of one forward pass over a text, a row per stream, layer, part and component.

        tokens: n; target_tokens: m of an encoder-decoder, None for as many. Columns: stream (encoder | decoder |
        cross), layer (nullable; <NA> below and above the layers), part, component, kind (matmul where the row is a
        product, else elementwise or lookup), parameters, flops (of products; 1 multiply-add = 2; 0 in other rows).

        Raises ValueError for a number below 1 or over 10^9.
        """
        lengths = self._lengths(tokens, target_tokens)
        return _table(self._order, self._flops(lengths), self._parameters)

    def step(self, *, tokens: int = 128, target_tokens: int | None = None) -> pd.DataFrame | None:
        """Cost of reading one token more, with the keys and values of `tokens` in a cache; None without a cache.

        target_tokens: of an encoder-decoder, how many target tokens are cached; columns as in `table`, parameters 0.
        """
        lengths = self._lengths(tokens, target_tokens)
        formula = self.step_formula
        if not self._keeps:
            return None
        if formula is None:
            rows: Mapping[CostPlace, int] = self._model.count(lengths, step=True)
        else:
            rows = {row: evaluate(formula.basis, of, lengths) for row, of in formula.rows.items()}
        return _table(tuple(rows), rows, {})

    @property
    def step_formula(self) -> Formula | None:
        """The polynomial of one cached step, in the tokens that are cached.

        None where the model keeps no cache, and where none was proven.
        """
        return self._stepped[0]

    @property
    def _keeps(self) -> bool:
        return self._stepped[1]

    @cached_property
    def _stepped(self) -> tuple[Formula | None, bool]:
        """The polynomial of a step, and whether the model keeps a cache to step from."""
        if self.shape == "encoder":
            return None, False
        try:
            return self._model.derive(step=True), True
        except NoCacheError:
            return None, False

    def needed(self, *, tokens: int = 128, target_tokens: int | None = None) -> pd.DataFrame:
        """FLOPs of scores and mix beside the FLOPs that their masks leave, a row per stream, layer and component.

        Code that multiplies every query with every key and hides a part afterwards computes more than it needs: twice
        as much under a causal mask, n over w times as much in a window of w. Columns: stream, layer, component (scores
        | mix), flops (what the model's eager code computes, as in `table`), needed (of the pairs of a query and a key
        that no mask hides), mask (all | causal | window | band | chunk, see `MaskRule`; missing where it is no such
        rule, and needed with it), width (of a window, band or chunk; else 0).

        Raises ValueError for a number below 1 or over 10^9.
        """
        lengths = self._lengths(tokens, target_tokens)
        flops, rules, needed = self._flops(lengths), self._rules, []
        for row in self._order:
            if row.component in ("scores", "mix") and row in flops:
                rule = rules.get((row.stream, row.layer))
                queries = lengths[0] if row.stream == "encoder" else lengths[-1]
                keys = lengths[0] if row.stream == "cross" else queries
                left = None
                if rule is not None and self._is_of_pairs(row):
                    left = flops[row] // (queries * keys) * rule.pairs(queries, keys)
                known = (None, None, 0) if left is None or rule is None else (left, rule.kind, rule.width)
                needed.append((row.stream, row.layer, row.component, flops[row], *known))
        columns = ["stream", "layer", "component", "flops", "needed", "mask", "width"]
        return pd.DataFrame(needed, columns=columns).astype({"layer": "Int64", "needed": "Int64"})

    @cached_property
    def _rules(self) -> Mapping[tuple[Stream, int | None], MaskRule | None]:
        return self._model.rules()

    def _is_of_pairs(self, row: CostPlace) -> bool:
        """Tell a row that costs the same for every pair of a query and a key, and nothing else."""
        if self.formula is None or self.formula.basis != Basis(self.formula.basis.lengths, self.formula.basis.degree):
            return False
        square = {"encoder": "n²", "decoder": "m²" if len(self.terms) > 3 else "n²", "cross": "nm"}[row.stream]
        used = {term for term, factor in zip(self.terms, self.formula.rows[row], strict=True) if factor}
        return used == {square}

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of the coefficients: ("1", "n", "n²"), of an encoder-decoder ("1", "n", "m", "n²", "nm", "m²").

        A window of w adds min(n, w), a padding to multiples of c adds ⌈n/c⌉. Where longer texts are computed by other
        code than short ones, each has its terms: ("1 (n ≤ 704)", ..., "1 (n > 704)", ...).
        """
        return self.formula.basis.terms if self.formula else ()

    def polynomial(self, component: str | None = None, *, part: str | None = None, layer: int | None = None,
                   stream: str | None = None) -> tuple[int, ...]:  # fmt: skip
        """Coefficients of the FLOPs of one forward, in the order of `terms`: of all, or of some rows.

        Raises ValueError where the model has no proven polynomial.
        """
        if self.formula is None:
            raise ValueError("no polynomial was proven for this model; count the lengths one by one with table()")
        asked = {"component": component, "part": part, "layer": layer, "stream": stream}
        wanted = {name: value for name, value in asked.items() if value is not None}
        chosen = [
            coefficients
            for row, coefficients in self.formula.rows.items()
            if all(getattr(row, name) == value for name, value in wanted.items())
        ]
        return tuple(sum(column) for column in zip(*chosen, strict=True)) if chosen else (0,) * len(self.terms)

    def total(self, lengths: Iterable[int | tuple[int, int]]) -> list[int]:
        """FLOPs of all products at each length; a pair is the tokens of a source and of a target."""
        pairs = [self._lengths(*(length if isinstance(length, tuple) else (length, None))) for length in lengths]
        if self.formula is None:
            return [sum(self._flops(pair).values()) for pair in pairs]
        coefficients = self.polynomial()
        return [evaluate(self.formula.basis, coefficients, pair) for pair in pairs]

    def by_length(self, lengths: Iterable[int | tuple[int, int]]) -> pd.DataFrame:
        """FLOPs of the products by stream, part and component at each length, summed over the layers.

        Columns: tokens, target_tokens, stream, part, component, flops.
        """
        groups = dict.fromkeys((row.stream, row.part, row.component) for row in self._order)
        rows = []
        for pair in [self._lengths(*(length if isinstance(length, tuple) else (length, None))) for length in lengths]:
            sums = dict.fromkeys(groups, 0)
            if self.formula is None:
                for row, flops in self._flops(pair).items():
                    sums[row.stream, row.part, row.component] += flops
            else:
                for group, coefficients in self._grouped.items():
                    sums[group] = evaluate(self.formula.basis, coefficients, pair)
            rows += [(pair[0], pair[-1], *group, flops) for group, flops in sums.items() if flops]
        return pd.DataFrame(rows, columns=["tokens", "target_tokens", "stream", "part", "component", "flops"])

    @cached_property
    def _grouped(self) -> Mapping[tuple[Stream, str, str], tuple[int, ...]]:
        """The polynomials of all layers together."""
        groups: dict[tuple[Stream, str, str], list[tuple[int, ...]]] = defaultdict(list)
        for row, coefficients in (self.formula.rows if self.formula else {}).items():
            groups[row.stream, row.part, row.component].append(coefficients)
        return {group: tuple(sum(column) for column in zip(*rows, strict=True)) for group, rows in groups.items()}

    def _flops(self, lengths: Lengths) -> Mapping[CostPlace, int]:
        if self.formula is None:
            return self._model.count(lengths)
        return {row: evaluate(self.formula.basis, of, lengths) for row, of in self.formula.rows.items()}

    def _lengths(self, tokens: int, target_tokens: int | None) -> Lengths:
        target = tokens if target_tokens is None else target_tokens
        for name, number in (("tokens", tokens), ("target_tokens", target)):
            if not 1 <= number <= MOST_TOKENS:
                raise ValueError(f"{name} is {number:,}; it must be from 1 to {MOST_TOKENS:,}")
        return (tokens, target) if self.shape == "encoder-decoder" else (tokens,)


def counted_of(config: Any, *, on_progress: OnProgress | None = None) -> CountedCosts:
    """Count a model from its configuration (see `inspector.costs.count`)."""
    return _Model(config).counted(on_progress)


class _Model:
    """A configuration, the network that is counted, and the roles of its products."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.local = sorted(_local(config))
        self._subjects: dict[int, MetaModel] = {}
        self._loops = False  # more products in a longer text
        self._counts: dict[tuple[Lengths, bool], Mapping[CostPlace, int]] = {}
        self._roles: dict[bool, tuple[list[TracedProduct], list[ProductRole]]] = {}

    def counted(self, on_progress: OnProgress | None) -> CountedCosts:
        original = self.subject(0)
        formula = self.derive(on_progress=on_progress)
        products, roles = self._named(step=False)
        by_row = parameters.rows(original.network, products, roles, output=original.output)
        order = list(dict.fromkeys([*self._rows(products, roles), *by_row]))
        order.sort(key=_turn)
        total = sum(parameter.numel() for parameter in original.network.network.parameters())
        return CountedCosts(original.shape, total, formula, by_row, tuple(order), self)

    def subject(self, tokens: int) -> MetaModel:
        """The network that reads a text of this length."""
        longest = max(self._subjects, default=-1)
        if longest < 0:
            self._subjects[_FITTED[-1]] = subject.of(self.config)
            longest = _FITTED[-1]
        if tokens > longest:
            self._subjects = {tokens: subject.of(self.config, tokens=tokens)}
            longest = tokens
        return self._subjects[longest]

    def count(self, lengths: Lengths, *, step: bool = False) -> Mapping[CostPlace, int]:
        """Count one length, by running it."""
        if (lengths, step) not in self._counts:
            self._counts[lengths, step] = self._count(lengths, step=step)
        return self._counts[lengths, step]

    def _count(self, lengths: Lengths, *, step: bool) -> Mapping[CostPlace, int]:
        named, roles = self._named(step=step)
        if set(lengths) == {_FITTED[0]}:
            return self._rows(named, roles)
        trace = subject.run(self.subject(max(lengths) + 1), lengths, roles=False, step=step)
        self._loops |= len(trace.products) != len(named)
        matched = _match(trace.products, named, roles)
        if matched is None:
            trace = subject.run(self.subject(max(lengths) + 1), lengths, roles=True, step=step)
            matched = self._assign(trace.products)
        return self._rows(trace.products, matched)

    def derive(self, *, step: bool = False, on_progress: OnProgress | None = None) -> Formula | None:
        """Find the polynomial of every row; None where there is none."""
        shape = self.subject(0).shape
        two = shape == "encoder-decoder"
        degree = 1 if step else 2
        counts: dict[Lengths, Mapping[CostPlace, int]] = {}
        plain = Basis(2 if two else 1, degree)
        for lengths, bases in self._stages(plain):
            for done, at in enumerate(lengths):
                if on_progress is not None:
                    on_progress(len(counts), len(counts) + len(lengths) - done)
                try:
                    counts[at] = self.count(at, step=step)
                except ValueError:
                    if not counts:
                        raise
                    return None  # a length that its code does not read
            for basis in bases:
                if (rows := _fitted(basis, counts)) is not None:
                    return Formula(basis, rows)
        return None

    def _stages(self, plain: Basis) -> Iterator[tuple[list[Lengths], list[Basis]]]:
        """Lengths to count and the bases to try on them: first no window, then each that the configuration names."""
        a, b, c, d = _FITTED
        if switch := longest_in_full(self.config):
            size = self.config.block_size
            past = (1, 2, size, size + 1, 2 * size + 3, 3 * size, switch + 5, 2 * switch)
            texts = [*_FITTED, switch - size, switch - 1, switch, *(switch + tokens for tokens in past)]
            switched: list[Lengths] = [(n,) for n in texts]
            if plain.lengths == 2:
                switched = [*((n, b) for n in texts), *((n, a) for n in texts[::2]), *((n, c) for n in texts[::4])]
            yield switched, [Basis(plain.lengths, plain.degree, chunk=size, switch=switch)]
            return
        if self.local:
            self.count((b,) * plain.lengths, step=plain.degree == 1)
        local = [number for number in self.local if not self._loops or number < _LONGEST_LOOP]
        beyond = [2 * number + 3 for number in local] + [number - 1 for number in local if number > 2]
        beyond += [number // 2 for number in local if 3 < number <= c]  # no other length is below so short a window
        if plain.lengths == 1:
            yield [(n,) for n in (*_FITTED, *beyond)], [plain]
        else:
            lattice = [(a, a), (b, a), (c, a), (a, b), (b, b), (a, c), (d, c + 3)]
            yield [*lattice, *((n, b) for n in beyond), *((b, n) for n in beyond)], [plain]
        if not local:
            return
        more = sorted(
            {n for w in local for n in (w // 2, w, w + 1, w + 5, 2 * w, 2 * w + 1, 3 * w + 2, 4 * w + 7) if n}
        )
        bases = [Basis(plain.lengths, plain.degree, windows=(w,)) for w in local]
        bases += [Basis(plain.lengths, plain.degree, windows=(w - 1,)) for w in local if w > 1]
        bases += [Basis(plain.lengths, plain.degree, windows=tuple(local))] if len(local) > 1 else []
        bases += [Basis(plain.lengths, plain.degree, chunk=w) for w in local]
        if plain.lengths == 1:
            yield [(n,) for n in more], bases
        else:
            yield [*((n, b) for n in more), *((b, n) for n in more), *((n, n + 2) for n in more)], bases

    def _named(self, *, step: bool) -> tuple[list[TracedProduct], list[ProductRole]]:
        """The products of a short text and their roles."""
        if step not in self._roles:
            lengths = (_FITTED[0],) * (2 if self.subject(0).shape == "encoder-decoder" else 1)
            products = subject.run(self.subject(_FITTED[0]), lengths, roles=True, step=step).products
            self._roles[step] = products, self._assign(products)
        return self._roles[step]

    def rules(self) -> dict[tuple[Stream, int | None], MaskRule | None]:
        """Find the mask of every layer's attention; None where it is no rule that is known.

        The masks are a short text's, with windows short enough to be seen in it.
        """
        if isinstance(self.config, TransformerConfig):
            return self._own_rules(self.config)
        stand_ins = dict(zip(self.local, _STAND_INS, strict=False))
        if len(stand_ins) < len(self.local):
            return {}
        model = _Model(_replaced(self.config, stand_ins))
        stand_in = model.subject(_MASKED[0])
        lengths = _MASKED if stand_in.shape == "encoder-decoder" else _MASKED[:1]
        products = subject.run(stand_in, lengths, roles=True, masks=True).products
        rules: dict[tuple[Stream, int | None], MaskRule | None] = {}
        for product, role in zip(products, model._assign(products), strict=True):
            if "mix" in dict(role.shares):
                rule, place = _true_width(product.mask, stand_ins), (role.stream, role.layer)
                rules[place] = rule if rules.get(place, rule) == rule else None
        return rules

    def _own_rules(self, config: TransformerConfig) -> dict[tuple[Stream, int | None], MaskRule | None]:
        rows = {
            (row.stream, row.layer) for row in self.count((_FITTED[0],) * (1 + (config.shape == "encoder-decoder")))
        }
        width = config.window or 0
        causal = MaskRule("window", width) if width else MaskRule("causal")
        plain = MaskRule("band", width) if width else MaskRule("all")
        rules: dict[Stream, MaskRule] = {"cross": MaskRule("all")}
        rules["decoder"] = causal if config.is_causal else plain
        rules["encoder"] = causal if config.shape == "encoder" and config.is_causal else plain
        return {(stream, layer): rules[stream] for stream, layer in rows}

    def _assign(self, products: list[TracedProduct]) -> list[ProductRole]:
        original = self.subject(0)
        return assign(products, shape=original.shape, output=original.output)

    @staticmethod
    def _rows(products: Sequence[TracedProduct], roles: Sequence[ProductRole]) -> dict[CostPlace, int]:
        """The FLOPs of each row."""
        flops_of: dict[CostPlace, int] = defaultdict(int)
        for product, role in zip(products, roles, strict=True):
            left = product.flops
            for component, share in role.shares[:-1]:
                flops = int(share * product.flops)
                flops_of[CostPlace(role.stream, role.layer, role.part, component)] += flops
                left -= flops
            flops_of[CostPlace(role.stream, role.layer, role.part, role.shares[-1][0])] += left
        return dict(flops_of)


def _fitted(basis: Basis, counts: Mapping[Lengths, Mapping[CostPlace, int]]) -> dict[CostPlace, tuple[int, ...]] | None:
    rows = dict.fromkeys(row for by_row in counts.values() for row in by_row)
    known: dict[tuple[int, ...], tuple[int, ...] | None] = {}  # equal layers count equally
    fits: dict[CostPlace, tuple[int, ...]] = {}
    for row in rows:
        values = tuple(by_row.get(row, 0) for by_row in counts.values())
        if values not in known:
            known[values] = fit(basis, dict(zip(counts, values, strict=True)))
        if (coefficients := known[values]) is None:
            return None
        fits[row] = coefficients
    return fits


def _match(
    products: list[TracedProduct], named: list[TracedProduct], roles: list[ProductRole]
) -> list[ProductRole] | None:
    """Give products the roles of the same module's products at another length; None where a doubt is left."""
    if [product.path for product in products] == [product.path for product in named]:
        return roles
    by_path: dict[tuple[str, Any], list[ProductRole]] = defaultdict(list)
    for product, role in zip(named, roles, strict=True):
        by_path[product.path, product.layer].append(role)
    matched = []
    for product in products:
        known = by_path.get((product.path, product.layer), [])
        if len(set(known)) != 1:
            return None
        matched.append(known[0])
    return matched


def _replaced(config: Any, numbers: Mapping[int, int]) -> Any:
    """Copy a configuration with other widths of windows and chunks."""
    copy = deepcopy(config)

    def put(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {inner: put(part, str(inner)) for inner, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(put(part, name) for part in value)
        plain = isinstance(value, int) and not isinstance(value, bool) and bool(_LOCAL.search(name))
        return numbers.get(value, value) if plain else value

    for part in (copy, *(getattr(copy, name, None) for name in copy.sub_configs)):
        if part is not None:
            vars(part).update({name: put(value, name) for name, value in vars(part).items() if _LOCAL.search(name)})
    return copy


def _true_width(rule: MaskRule | None, stand_ins: Mapping[int, int]) -> MaskRule | None:
    """Put the configuration's own width in the place of its stand-in; None for a width that comes from neither."""
    if rule is None or not rule.width:
        return rule
    for true, short in stand_ins.items():
        widths = {short: true, short + 1: true + 1, short - 1: true - 1, short // 2: true // 2}
        widths[short // 2 + 1] = true // 2 + 1
        if rule.width in widths:
            return replace(rule, width=widths[rule.width])
    return None


def _turn(row: CostPlace) -> tuple[bool, int, int]:
    """The place of a row: encoder first; embedding, layers, what stands behind them."""
    section = 1 if row.layer is not None else 0 if row.part == "embedding" else 2
    return row.stream != "encoder", section, row.layer or 0


def _table(
    order: Sequence[CostPlace], flops: Mapping[CostPlace, int], parameters: Mapping[CostPlace, int]
) -> pd.DataFrame:
    rows = [
        {
            "stream": row.stream,
            "layer": row.layer,
            "part": row.part,
            "component": row.component,
            "kind": "matmul" if row in flops else KINDS[row.component],
            "parameters": parameters.get(row, 0),
            "flops": flops.get(row, 0),
        }
        for row in order
    ]
    return pd.DataFrame(rows).astype({"layer": "Int64"})


def _local(config: Any) -> set[int]:
    """The lengths that a configuration names for windows, chunks and blocks."""
    fields = config.to_dict() if hasattr(config, "to_dict") else vars(config)
    lengths: set[int] = set()

    def look(name: str, value: Any) -> None:
        if isinstance(value, dict):
            for inner, part in value.items():
                look(str(inner), part)
        elif isinstance(value, list | tuple):
            for part in value:
                look(name, part)
        elif isinstance(value, int) and not isinstance(value, bool) and 1 < value < 2**20 and _LOCAL.search(name):
            lengths.add(value)

    look("", fields)
    return lengths
