// All heads of the open view, kept for the page's grid and head. Nothing is drawn.
import { Heads } from "../heads.js";
import { opened } from "../opened.js";

export function mount({ data }) {
  opened.heads = new Heads(data);
  return () => (opened.heads = null);
}
