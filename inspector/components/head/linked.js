// Heads of one document that are linked by a name: what is looked at in one lights up in the others.

const EVENT = "headlight-look";

export class Linked {
  /** `follow({ queries, keys })` gives the places whose numbers are looked at elsewhere; null when that is over. */
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

  /** Tells the others what the reader looks at here, { query, key }, one of them or null. What is heard is not told on. */
  tell(spot) {
    if (this.name === null) return;
    const query = this.numbers.queries[spot?.query] ?? null;
    const key = this.numbers.keys[spot?.key] ?? null;
    const told = String([query, key]);
    if (told === this.told) return;
    this.told = told;
    document.dispatchEvent(new CustomEvent(EVENT, { detail: { from: this, name: this.name, query, key } }));
  }

  /** Where the numbers stand here. */
  places({ query, key }) {
    const holding = (numbers, wanted) => (wanted === null ? [] : numbers.flatMap((n, at) => (n === wanted ? [at] : [])));
    const found = { queries: holding(this.numbers.queries, query), keys: holding(this.numbers.keys, key) };
    return found.queries.length || found.keys.length ? found : null;
  }

  close() {
    this.tell(null);
    document.removeEventListener(EVENT, this.hear);
  }
}
