// The lengths of bars around a zero line: what one step gives to every key.

/** Numbers, null where masked -> { zero, bars: [{ left, width } | null] } in parts of the whole width. The longest bar on
 * each side reaches the edge of its side, and all bars share one scale. */
export function barsOf(numbers) {
  const known = numbers.filter((number) => number !== null);
  const [least, most] = [Math.min(0, ...known), Math.max(0, ...known)];
  const span = most - least || 1;
  const zero = Math.abs(least) / span;
  const bars = numbers.map((number) => {
    if (number === null) return null;
    const width = Math.abs(number) / span;
    return { left: number < 0 ? zero - width : zero, width };
  });
  return { zero, bars };
}
