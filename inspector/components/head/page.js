// The view of a head on a Streamlit page: a grid on the same page frames the head, and opens others in it.
import { opened } from "../opened.js";
import { unpack } from "../shared.js";
import { another } from "../heads.js";
import { draw } from "./index.js";

const mounted = new WeakMap(); // root -> { view, end }: Streamlit mounts a component anew with every message

export function mount({ data, parentElement: root, setTriggerValue }) {
  const tell = ([layer, head], drawn) => setTriggerValue("open", { layer, head, drawn });
  const emit = (name, value) => {
    const next = name === "step" && opened.neighbour(value);
    if (!next || !opened.open(next, tell)) setTriggerValue(name, value);
  };
  mounted.get(root)?.end();
  const message = unpack(data);
  const { layer, head, view: drawnIn = "" } = message.header;
  const isOpen = opened.answered(layer === null || head === null ? null : [layer, head], drawnIn);
  let { view } = mounted.get(root) ?? {};
  if (message.header.atHand) { // the map is not sent again, nor what is the same in all heads of the view
    const map = view?.header.view === drawnIn ? opened.at([layer, head]) : null;
    message.data = map?.data;
    message.header = { ...view?.header, marked: null, picked: null, ...message.header };
  }
  if (isOpen && !message.data) setTriggerValue("open", { layer, head, drawn: "" });
  if (message.data && (isOpen || !view)) view = draw(root, message, emit);
  if (!view) return () => {}; // the map was asked for
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
