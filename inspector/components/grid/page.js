// The grid on a Streamlit page, where the head's view, another component, says which head is open.
import { opened } from "../opened.js";
import { draw } from "./index.js";

const listening = new WeakMap(); // root -> what ends it: Streamlit mounts a component anew with every message

export function mount({ data, parentElement: root, setTriggerValue }) {
  const tell = ([layer, head], drawn) => setTriggerValue("open", { layer, head, drawn });
  const emit = (name, value) => {
    if (name !== "open" || !opened.open([value.layer, value.head], tell)) setTriggerValue(name, value);
  };
  listening.get(root)?.();
  const view = draw(root, data, emit);
  const { selected } = view.header; // set where no head is drawn beside the grid
  const follow = () => opened.place && !selected && view.follow(opened.place);
  follow();
  listening.set(root, opened.listen(follow));
  return () => {
    listening.get(root)();
    view.close();
  };
}
