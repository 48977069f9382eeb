// A clock that runs down, whatever the timer's own delays: it reads the time that has passed, and tells it in words.

/** "1:07" of 67 seconds; below 0 "−0:05", for a reader may take longer. */
export function clockFace(seconds) {
  const whole = Math.abs(Math.ceil(seconds));
  const face = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  return Math.ceil(seconds) < 0 ? `−${face}` : face;
}

/** The sentence that is due as the clock goes from `before` to `after`: the last of { at, said } that it has passed. */
export function saidBetween(before, after, sentences) {
  const passed = sentences.filter(({ at }) => after <= at && at < before);
  return passed.length ? passed.reduce((one, other) => (one.at < other.at ? one : other)).said : "";
}

/** Seconds that are left. now() gives milliseconds. */
export class Clock {
  constructor(left, now = () => performance.now()) {
    Object.assign(this, { kept: left, now, since: undefined });
  }

  get running() {
    return this.since !== undefined;
  }

  get left() {
    return this.kept - (this.running ? (this.now() - this.since) / 1000 : 0);
  }

  start() {
    this.since ??= this.now();
  }

  pause() {
    this.kept = this.left;
    this.since = undefined;
  }
}
