// All heads of the open view, kept for the page's grid and head. Nothing is drawn.
import { Heads } from "../heads.js";
import { opened } from "../opened.js";

let last = null; // Streamlit mounts a component anew with every message

export function mount({ data }) {
  opened.heads = last = new Heads(data).after(last);
  return () => (opened.heads = null);
}
