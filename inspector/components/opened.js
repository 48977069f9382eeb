// The open head of a page on which the head's view and the grid are components of their own. A head of the view that is
// shown opens in the browser; the server is told when the reader rests, and what it answers for another head comes too late.

const EVENT = "headlight-open";
const REST = 500; // milliseconds at one head until the server is told, and the address with it
const ANSWER = 5000; // milliseconds that the server has to answer, until what it says counts again

class Opened {
  constructor() {
    Object.assign(this, { place: null, view: null, heads: null, asked: null, timer: null });
    // Back leaves the head that was asked for: the run that would have answered for it is given up.
    globalThis.addEventListener?.("popstate", () => this.settle());
  }

  /** Takes the head that the server drew in a view; false where the reader is at another head of that view by now. */
  answered(place, view) {
    const late = this.asked && view === this.view && String(place) !== String(this.asked);
    if (late) return false;
    if (String(place) === String(this.asked)) this.settle();
    this.view = view;
    this.show(place);
    return true;
  }

  /** Opens a head of this view, at once or as soon as its map is there, and calls tell(place, view) when the reader
   * rests there, without the view where the map did not come; false for another head. */
  open(place, tell) {
    if (!this.isCurrent || !this.heads.lists(place)) return false;
    this.settle();
    this.asked = place;
    const rest = () => {
      this.timer = setTimeout(() => this.settle(), ANSWER);
      tell(place, this.at(place) ? this.view : "");
    };
    this.timer = setTimeout(rest, REST);
    this.show(place);
    if (!this.at(place)) this.fetch(place, rest);
    return true;
  }

  /** Fetches the map of the head that the reader opened; where it does not come, the server draws the head. */
  async fetch(place, ask) {
    const isAsked = () => String(place) === String(this.asked);
    try {
      await this.heads.fetch(place);
      if (isAsked()) this.show(place);
    } catch {
      if (!isAsked()) return;
      clearTimeout(this.timer);
      ask();
    }
  }

  get isCurrent() {
    return Boolean(this.view) && this.heads?.view === this.view;
  }

  /** The head `by` places further in the model's order, the last one's next is the first; null where none is at hand. */
  neighbour(by) {
    return this.isCurrent ? this.heads.neighbour(this.place, by) : null;
  }

  /** What of a head's message is the head's alone; null where its map is not at hand in this view. */
  at(place) {
    return this.isCurrent ? this.heads.at(place) : null;
  }

  settle() {
    clearTimeout(this.timer);
    this.asked = this.timer = null;
  }

  show(place) {
    this.place = place;
    document.dispatchEvent(new Event(EVENT));
  }

  /** Calls `follow` now and whenever another head opens; returns what ends that. */
  listen(follow) {
    document.addEventListener(EVENT, follow);
    return () => document.removeEventListener(EVENT, follow);
  }
}

/** One for a page, whose components each have a copy of this file. */
export const opened = (globalThis.headlight ??= new Opened());
