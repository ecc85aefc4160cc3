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

/** A count, or an estimate of it, as the server shows them. */
const countText = (number, isExact) => {
  if (isExact) return grouped(number);
  let step = 1;
  while (number / step >= 200) step *= 10;
  return `about ${grouped(Math.round(number / step) * step)}`;
};

/** The beginning and the end of a long text. */
const cut = (text, charactersMax) => {
  if (text.length <= charactersMax) return text;
  const tail = Math.floor(charactersMax / 3);
  return `${text.slice(0, charactersMax - tail)}…${text.slice(-tail)}`;
};

/** A name by itself: letters that are written from right to left turn nothing else around. */
const name = (text, charactersMax = 60) => {
  const short = cut(text, charactersMax);
  if (short === text) return make("bdi", {}, ...breakable(text));
  return make("details", { class: "long" }, make("summary", {}, make("bdi", {}, ...breakable(short))), make("bdi", {}, text));
};

/** Where it may break, as the server's names. */
const breakable = (text) =>
  (text.match(/[^_]{1,32}_?|_/gu) ?? []).flatMap((piece, at) => (at === 0 ? [piece] : [make("wbr", {}), piece]));

/** Times of the day are UTC; where the reader's own clock shows another one, it stands beside. */
const showLocalTimes = (within) => {
  for (const each of within.querySelectorAll("time")) {
    const moment = new Date(each.dateTime);
    if (moment.getTimezoneOffset() === 0 || each.nextElementSibling?.className === "local") continue;
    const local = moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    each.title = `${moment.toLocaleString()} here`;
    if (each.textContent.endsWith("UTC")) each.after(" ", make("span", { class: "local" }, `(${local} here)`));
  }
};

/** To screen readers. */
const say = (text) => {
  find("said").textContent = text;
};
