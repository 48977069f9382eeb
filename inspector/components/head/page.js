// The view of a head on a Streamlit page: a grid on the same page frames the head, and opens others in it.
import { opened } from "../opened.js";
import { unpack } from "../shared.js";
import { another } from "../heads.js";
import { draw } from "./index.js";

const mounted = new WeakMap(); // root -> { view, end }: Streamlit mounts a component anew with every message

export function mount({ data, parentElement: root, setTriggerValue }) {
  const tell = ([layer, head]) => setTriggerValue("open", { layer, head });
  const emit = (name, value) => {
    const next = name === "step" && opened.neighbour(value);
    if (!next || !opened.open(next, tell)) setTriggerValue(name, value);
  };
  mounted.get(root)?.end();
  const message = unpack(data);
  const { layer, head, view: drawnIn = "" } = message.header;
  const isOpen = opened.answered(layer === null || head === null ? null : [layer, head], drawnIn);
  const view = isOpen || !mounted.has(root) ? draw(root, message, emit) : mounted.get(root).view;
  const follow = () => {
    const { header } = view;
    const entry = opened.at(opened.place);
    if (entry && String(opened.place) !== String([header.layer, header.head])) draw(root, another(header, entry), emit);
  };
  const end = opened.listen(follow);
  mounted.set(root, { view, end });
  return () => {
    mounted.get(root).end();
    mounted.delete(root);
    view.close();
  };
}
