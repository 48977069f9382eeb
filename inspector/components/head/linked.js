// Heads of one document that are linked by a name: a token at the cursor of one head lights up in the others.

const EVENT = "headlight-look";

export class Linked {
  /** `follow({ queries, keys })` gets the places of the tokens at another head's cursor, null without a cursor. */
  constructor(follow) {
    this.follow = follow;
    this.name = null;
    this.told = String([null, null]);
    this.hear = ({ detail }) => {
      if (detail.from !== this && detail.name === this.name) this.follow(this.places(detail));
    };
    document.addEventListener(EVENT, this.hear);
  }

  /** `linked` of the header: { name, queries, keys } with a number or null for each token, or null. */
  update(linked) {
    if (this.name !== (linked?.name ?? null)) this.tell(null);
    this.name = linked?.name ?? null;
    this.numbers = linked;
  }

  /** Tells the others this head's cursor, { query, key }, or one of the two, or null. Nothing heard is passed on. */
  tell(cursor) {
    if (this.name === null) return;
    const query = this.numbers.queries[cursor?.query] ?? null;
    const key = this.numbers.keys[cursor?.key] ?? null;
    const told = String([query, key]);
    if (told === this.told) return;
    this.told = told;
    document.dispatchEvent(new CustomEvent(EVENT, { detail: { from: this, name: this.name, query, key } }));
  }

  /** Finds the places of a query's and a key's number in this head. */
  places({ query, key }) {
    const holding = (numbers, wanted) => (wanted === null ? [] : numbers.flatMap((n, at) => (n === wanted ? [at] : [])));
    const places = { queries: holding(this.numbers.queries, query), keys: holding(this.numbers.keys, key) };
    return places.queries.length || places.keys.length ? places : null;
  }

  close() {
    this.tell(null);
    document.removeEventListener(EVENT, this.hear);
  }
}
