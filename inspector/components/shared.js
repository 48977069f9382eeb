// Shared by all components: the packed message, the page's theme, colour scales, pixels, tokens, floating panels.

export function element(tag, className = "", attributes = {}) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** Packed bytes -> { header, data }: uint32 header length, JSON header, padding to a multiple of 4, raw data. What is
 * unpacked already comes back as it is. */
export function unpack(bytes) {
  if (bytes.header) return bytes;
  const aligned = bytes.byteOffset % 4 ? bytes.slice() : bytes; // a Float32Array can only start at a multiple of 4
  const length = new DataView(aligned.buffer, aligned.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(aligned.subarray(4, 4 + length)));
  return { header, data: aligned.subarray((4 + length + 3) & ~3) };
}

// ---- views ------------------------------------------------------------------------------------------------------

/** Makes a component's draw(root, bytes, emit): a view of the class `Kind` in `root`; a second call updates it. */
export const drawing = (Kind) => {
  const views = new WeakMap();
  return (root, bytes, emit) => {
    if (!views.has(root)) views.set(root, new Kind(root, () => views.delete(root)));
    const view = views.get(root);
    view.update(bytes, emit);
    return view;
  };
};

export const POINT = "headlight-point"; // tells whether the reader points at the page's sentence

/** A component in a box. layout() draws again when the box changes its width and when the page turns dark. */
export class View {
  constructor(root, closed, className, attributes) {
    Object.assign(this, { root, closed });
    this.box = element("div", className, attributes);
    root.append(this.box);
    this.resizing = new ResizeObserver(() => this.width !== this.box.clientWidth && this.layout());
    this.resizing.observe(this.box);
    this.ignoreColourScheme = onColourSchemeChange(() => this.layout());
    this.hear = ({ detail }) => this.point(detail);
    document.addEventListener(POINT, this.hear);
  }

  /** Called on resize. Views whose CSS adapts to any width need not override it. */
  layout() {}

  /** Called as the reader points at the page's sentence, and away: a view that marks what it names looks there. */
  point() {}

  close() {
    this.resizing.disconnect();
    document.removeEventListener(POINT, this.hear);
    this.ignoreColourScheme();
    this.box.remove();
    this.closed();
  }
}

/** Makes buttons one stop of Tab, from which arrow keys lead on: the one that had the focus last, at first the first. */
export function rove(box) {
  const buttons = () => [...box.querySelectorAll("button")];
  const stop = (at) => buttons().forEach((button, place) => (button.tabIndex = place === at ? 0 : -1));
  const WAYS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity };
  box.addEventListener("focusin", ({ target }) => stop(buttons().indexOf(target)));
  box.addEventListener("keydown", (event) => {
    const at = buttons().indexOf(event.target);
    if (at < 0 || !(event.key in WAYS)) return;
    buttons()[clamp(at + WAYS[event.key], 0, buttons().length - 1)].focus();
    event.preventDefault();
  });
  return () => stop(Math.max(0, buttons().findIndex((button) => button === box.getRootNode().activeElement)));
}

// ---- pictures ---------------------------------------------------------------------------------------------------

/** A picture's text as an element: what would run in it does not, for it was parsed apart from the page. */
export const picture = (svg) => document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);

/** Shows a picture over the whole screen until the reader leaves it with Escape or a click; the focus then goes back. */
export function onScreen(box, svg) {
  const { activeElement } = box.getRootNode();
  const sheet = element("div");
  const drawn = picture(svg);
  for (const side of ["width", "height"]) drawn.setAttribute(side, "100%");
  sheet.style.background = drawn.querySelector("rect")?.getAttribute("fill") ?? "";
  sheet.append(drawn);
  box.append(sheet);
  sheet.addEventListener("click", () => document.exitFullscreen());
  sheet.addEventListener("fullscreenchange", () => {
    if (document.fullscreenElement) return;
    sheet.remove();
    activeElement?.focus();
  });
  return sheet.requestFullscreen();
}

// ---- theme and colour -------------------------------------------------------------------------------------------

let probe; // a canvas of one pixel, made at the first colour: without a browser the module can still be read

/** Any CSS colour -> [red, green, blue]. */
function rgb(colour) {
  probe ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

/** The page's colours where `box` stands, and the mode that its background makes it. */
export function readTheme(box) {
  const style = getComputedStyle(box);
  const [paper, ink, line] = ["--paper", "--ink", "--line"].map((name) => rgb(style.getPropertyValue(name)));
  const [red, green, blue] = paper.map((channel) => (channel / 255) ** 2.2);
  const mode = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.2 ? "dark" : "light";
  return { mode, paper, ink, line, tokenFont: style.getPropertyValue("--token-font") };
}

export function onColourSchemeChange(callback) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", callback);
  return () => dark.removeEventListener("change", callback);
}

export const LEVELS = 1024; // steps of a colour scale; even, so that a diverging scale has an exact middle
export const MASKED = -1; // the level of a cell that holds no number
const NARROWEST = 40; // pixels of a plot, also where a page that is being laid out leaves less than the labels take

const pixel = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
const mix = (from, to, part) => from.map((channel, i) => Math.round(channel + (to[i] - channel) * part));

/** Colour stops -> { colours: a pixel per level, zero: the level of the number 0, css(0..1), hatch, paper }.
 * Zero is drawn as the page's own background, whatever that is. */
export function makePalette(stops, theme, diverging = false) {
  const zero = diverging ? LEVELS / 2 : 0;
  const points = stops.map(rgb);
  points[(zero / LEVELS) * (points.length - 1)] = theme.paper;
  const colours = Uint32Array.from({ length: LEVELS + 1 }, (_, level) => {
    const place = (level / LEVELS) * (points.length - 1);
    const left = Math.min(Math.floor(place), points.length - 2);
    return pixel(mix(points[left], points[left + 1], place - left));
  });
  const css = (part) => `rgb(${points[Math.round(part * (points.length - 1))].join(" ")})`;
  return { colours, zero, css, hatch: pixel(mix(theme.paper, theme.ink, 0.28)), paper: pixel(theme.paper) };
}

// ---- pixels -----------------------------------------------------------------------------------------------------

/** For each of `size` pixels the half-open range of the `count` cells under it. */
function ranges(count, size) {
  const first = new Int32Array(size);
  const last = new Int32Array(size);
  for (let i = 0; i < size; i++) {
    first[i] = Math.floor((i * count) / size);
    last[i] = size < count ? Math.ceil(((i + 1) * count) / size) : first[i] + 1;
  }
  return { first, last };
}

/** Levels [rows, cols] from `offset` on -> pixels in `box` of `image`. A pixel over several cells takes the one that
 * is farthest from zero, so that a single bright cell stays visible however small the picture is. */
export function paint(image, box, levels, offset, rows, cols, palette) {
  const pixels = new Uint32Array(image.data.buffer);
  const { colours, zero, hatch, paper } = palette;
  const x = ranges(cols, box.width);
  const y = ranges(rows, box.height);
  const stripe = Math.max(1, Math.round(devicePixelRatio));
  for (let j = 0; j < box.height; j++) {
    const start = (box.y + j) * image.width + box.x;
    for (let i = 0; i < box.width; i++) {
      let level = MASKED;
      for (let row = y.first[j]; row < y.last[j]; row++) {
        for (let col = x.first[i]; col < x.last[i]; col++) {
          const candidate = levels[offset + row * cols + col];
          if (candidate === MASKED) continue;
          if (level === MASKED || Math.abs(candidate - zero) > Math.abs(level - zero)) level = candidate;
        }
      }
      if (level !== MASKED) pixels[start + i] = colours[level];
      else pixels[start + i] = (i + j) % (5 * stripe) < stripe ? hatch : paper;
    }
  }
}

/** Sets a canvas's size in CSS pixels and returns it in device pixels. Only a new size is set: setting clears. */
export function sizeCanvas(canvas, width, height) {
  const size = { width: Math.round(width * devicePixelRatio), height: Math.round(height * devicePixelRatio) };
  if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  return size;
}

/** A cell's [width, height] in pixels: as large as fits, square unless rows and columns differ much in number. */
export function fit({ rows, columns }, { width, height, largest }) {
  const across = Math.min(largest, Math.max(width, NARROWEST) / columns);
  const down = Math.min(largest, height / rows);
  const alike = Math.max(across, down) < 3 * Math.min(across, down);
  const whole = (length) => (length >= 4 ? Math.floor(length) : length);
  return alike ? Array(2).fill(whole(Math.min(across, down))) : [whole(across), whole(down)];
}

// ---- tokens -----------------------------------------------------------------------------------------------------

const PICTURE = "[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u{FE0F}]";
const JOINED_EMOJI = new RegExp(`${PICTURE}(?:\\u{200D}${PICTURE}+)+`, "u"); // a family of emoji is one picture
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u{034F}\u{115F}\u{1160}\u{3164}\u{FFA0}]/u;
const PARTS = new RegExp(`${JOINED_EMOJI.source}|^(?:##|␣+)(?=.)|↵|^ +| +$|${INVISIBLE.source}`, "gsu");

const escaped = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** A token -> [text, dimmed] pieces with nothing invisible in them; dimmed are word-piece marks, spaces, escapes. */
export function pieces(token) {
  if (token === "") return [["(empty)", true]];
  const segments = [];
  let done = 0;
  for (const { 0: part, index } of token.matchAll(PARTS)) {
    if (JOINED_EMOJI.test(part)) continue;
    if (index > done) segments.push([token.slice(done, index), false]);
    segments.push([part.startsWith(" ") ? "␣".repeat(part.length) : INVISIBLE.test(part) ? escaped(part) : part, true]);
    done = index + part.length;
  }
  if (done < token.length) segments.push([token.slice(done), false]);
  const seated = (text) => text.replace(/^\p{M}/u, "◌$&"); // a lone accent needs something to sit on
  return segments.map(([text, dimmed]) => [seated(text), dimmed]);
}

export const plain = (token) => pieces(token).map(([text]) => text).join("");

/** Fills `holder` with a token, always as text. <bdi> keeps right-to-left from turning the neighbours around. */
export function fillToken(holder, token) {
  const isolated = element("bdi", "token");
  for (const [text, dimmed] of pieces(token)) {
    const piece = element("span", dimmed ? "mark" : "");
    piece.textContent = text;
    isolated.append(piece);
  }
  holder.replaceChildren(isolated);
}

// ---- panels -----------------------------------------------------------------------------------------------------

/** A panel above everything that never takes the pointer: tooltip, preview. */
export class Floating {
  constructor(parent, className) {
    // A popover lies in the browser's top layer: no ancestor's overflow, transform or z-index can cut it.
    this.panel = element("div", className, { popover: "manual", "aria-hidden": "true" });
    parent.append(this.panel);
    // As the page scrolls the panel would stay behind.
    this.onScroll = (event) => parent.contains(event.target) || this.hide();
  }

  /** Below the anchor (a rectangle in the window), or above it where there is no room. */
  show(anchor, gap = 10) {
    if (!this.panel.isConnected) return;
    if (!this.panel.matches(":popover-open")) this.panel.showPopover();
    addEventListener("scroll", this.onScroll, { capture: true, passive: true });
    const { width, height } = this.panel.getBoundingClientRect();
    const below = anchor.bottom + gap;
    const top = below + height <= innerHeight - 4 ? below : Math.max(4, anchor.top - gap - height);
    const left = clamp((anchor.left + anchor.right - width) / 2, 4, Math.max(4, innerWidth - width - 4));
    Object.assign(this.panel.style, { left: `${left}px`, top: `${top}px` });
  }

  hide() {
    removeEventListener("scroll", this.onScroll, { capture: true });
    if (this.panel.isConnected && this.panel.matches(":popover-open")) this.panel.hidePopover();
  }
}
