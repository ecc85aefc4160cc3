// The page asks for itself and takes over the parts that have changed. What it gets is parsed as a document of its own, in
// which nothing runs; the server has made all names in it texts.

const refreshEvery = 10_000;
const answerWithin = 9_000;
const parts = new Map(); // by id: as the server has sent it last
let lastAnswer = Date.now();
let timer;

const hasSelection = (element) => {
  const selection = getSelection();
  return !selection.isCollapsed && selection.containsNode(element, true);
};

const askForPage = () =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", location.pathname);
    request.responseType = "document";
    request.timeout = answerWithin;
    request.onload = () => {
      if (request.status === 200 && request.response?.getElementById("now")) resolve(request.response);
      else reject(new Error(`it answers with status ${request.status}`));
    };
    request.onerror = request.ontimeout = () => reject(new Error("it does not answer"));
    request.send();
  });

/** Keeps the focus, what is open and what is scrolled, by their ids. */
const replacePart = (old, fresh) => {
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = [...old.querySelectorAll("[id]")].filter((each) => each.scrollLeft || each.scrollTop)
    .map(({ id, scrollLeft, scrollTop }) => ({ id, scrollLeft, scrollTop }));
  for (const open of old.querySelectorAll("details[id][open]")) {
    const again = fresh.querySelector(`#${open.id}`);
    if (again) again.open = true;
  }
  showCopyButtons(fresh);
  showLocalTimes(fresh);
  old.replaceWith(fresh);
  for (const { id, scrollLeft, scrollTop } of scrolled) find(id)?.scrollTo(scrollLeft, scrollTop);
  if (focused) find(focused)?.focus({ preventScroll: true });
};

/** What somebody has selected is left alone, for a minute: then what it says matters more. */
const selectedAt = new Map();
const isHeld = (part) => {
  if (!hasSelection(part)) {
    selectedAt.delete(part.id);
    return false;
  }
  if (!selectedAt.has(part.id)) selectedAt.set(part.id, Date.now());
  return Date.now() - selectedAt.get(part.id) < 60_000;
};

const columnsOf = (section) => section.querySelectorAll("th[data-by]").length;

const takeOver = (page) => {
  const verdict = find("verdict").textContent;
  for (const fresh of page.querySelectorAll("[data-part]")) {
    const old = find(fresh.id);
    if (parts.get(fresh.id)?.isEqualNode(fresh) || isHeld(old)) continue;
    parts.set(fresh.id, fresh.cloneNode(true));
    replacePart(old, document.adoptNode(fresh));
  }
  document.title = page.title;
  find("icon").href = page.getElementById("icon").href;
  const budgetsNow = page.getElementById("budgets");
  const { total } = budgetsNow.dataset;
  if (columnsOf(find("budgets")) !== columnsOf(budgetsNow)) {
    find("budgets").replaceWith(document.adoptNode(budgetsNow));
    startBudgets();
  }
  find("budgets").dataset.total = total;
  const after = find("verdict").textContent;
  if (after !== verdict) say(after);
};

const tellLost = (why) => {
  const text = why && `The gate cannot be reached: ${why}. What is below is as of ${new Date(lastAnswer).toISOString().slice(11, 19)} UTC.`;
  if (find("lost").textContent === text) return;
  find("lost").textContent = text;
  find("lost").hidden = !why;
  say(why ? text : "The gate can be reached again");
};

const refresh = async () => {
  clearTimeout(timer);
  try {
    takeOver(await askForPage());
    await refreshBudgets();
    lastAnswer = Date.now();
    if (!find("lost").hidden) tellLost("");
  } catch (error) {
    tellLost(error.message);
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(refresh, refreshEvery);
};
for (const part of document.querySelectorAll("[data-part]")) parts.set(part.id, part.cloneNode(true));
showCopyButtons(document);
showLocalTimes(document);
startExplaining();
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-copies]");
  if (button) copy(button);
});
startBudgets();
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));
refreshBudgets().catch(({ message }) => tellLost(message));
timer = setTimeout(refresh, refreshEvery);
