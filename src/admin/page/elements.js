// The page is whole without this script: it refreshes, sorts, filters and copies. Texts become text nodes, never markup.

const find = (id) => document.getElementById(id);

/** An element with children: texts, elements. */
const make = (tag, attributes, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

/** 99812 as 99,812. */
const grouped = (number) => number.toLocaleString("en-US");

/** The beginning and the end of a long text. */
const cut = (text, charactersMax) => {
  if (text.length <= charactersMax) return text;
  const tail = Math.floor(charactersMax / 3);
  return `${text.slice(0, charactersMax - tail)}…${text.slice(-tail)}`;
};

/** A name by itself: letters that are written from right to left turn nothing else around. */
const name = (text, charactersMax = 60) => {
  const short = cut(text, charactersMax);
  if (short === text) return make("bdi", {}, text);
  return make("details", { class: "long" }, make("summary", {}, make("bdi", {}, short)), make("bdi", {}, text));
};

/** To screen readers. */
const say = (text) => {
  find("said").textContent = text;
};
