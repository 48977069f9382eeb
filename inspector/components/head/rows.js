// Which tokens stand in the lines, where a text has more than fit: those of the strongest lines, in the text's order.

/** Rows of the lines: `queries` and `keys` are token numbers from top to bottom, `whole` where no token is left out. */
export class Rows {
  constructor(queries, keys, { whole }) {
    Object.assign(this, { queries, keys, whole });
    const places = (tokens) => new Map(tokens.map((token, row) => [token, row]));
    this.rowOf = { queries: places(queries), keys: places(keys) };
  }

  /** The row of a query or a key, undefined where the token is left out. */
  place(side, token) {
    return this.rowOf[side].get(token);
  }

  holds({ query, key }) {
    return this.rowOf.queries.has(query) && this.rowOf.keys.has(key);
  }

  get count() {
    return Math.max(this.queries.length, this.keys.length);
  }
}

/** Chooses the tokens of the strongest `entries` (they come strongest first), as far as `room` tokens fit on each side,
 * after those that must be there, { queries, keys }; then those of `fill`, where room is left. `taken` is how many entries
 * found room: those, and none that is weaker, are drawn. A side that fits whole is whole. */
export function choose(entries, { queries, keys }, room, must = {}, fill = []) {
  const sides = { query: pick(queries, room, must.queries), key: pick(keys, room, must.keys) };
  const add = ({ query, key }) => {
    const fits = sides.query.fits(query) && sides.key.fits(key);
    if (fits) sides.query.add(query);
    if (fits) sides.key.add(key);
    return fits;
  };
  const left = entries.findIndex((entry) => !add(entry));
  fill.forEach(add);
  const whole = Math.max(queries, keys) <= room;
  return { rows: new Rows(sides.query.tokens(), sides.key.tokens(), { whole }), taken: left < 0 ? entries.length : left };
}

function pick(count, room, must = []) {
  const all = count <= room;
  const chosen = new Set(must.slice(0, room));
  return {
    fits: (token) => all || chosen.has(token) || chosen.size < room,
    add: (token) => chosen.add(token),
    tokens: () => (all ? Array.from({ length: count }, (_, token) => token) : [...chosen].sort((a, b) => a - b)),
  };
}
