// The table of budgets: all of them, sorted, filtered, a page at a time.

const budgets = { all: [], shown: [], by: "used", descending: true, page: 0, asked: 0 };
const rowsPerPage = 100;
const manyBudgets = 1000;

const usedOf = (window) => (window.maxSeries === 0 ? -1 : window.currentSeries / window.maxSeries);

// The two leave the decision to others: what is withheld is red, and they withhold nothing.
const refusesSeries = (mode, limit) => mode === "enforce" && limit !== "exempt" && limit !== "ignored-values";

const budgetOf = (entry, limit) => {
  const group = Object.entries(entry.group ?? {}).map(([label, value]) => `${label}=${value}`).join(", ");
  const { hourly, daily, active } = entry;
  return {
    limit, group, tenant: entry.tenant === "" ? "(no tenant)" : entry.tenant ?? "", mode: entry.mode, refuses: refusesSeries(entry.mode, limit),
    hourRefusedExact: hourly.refusedSeriesExact, dayRefusedExact: daily.refusedSeriesExact, note: entry.note,
    used: Math.max(...[hourly, daily, active].filter(Boolean).map(usedOf)),
    hourCurrent: hourly.currentSeries, hourMax: hourly.maxSeries, hourUsed: usedOf(hourly), hourRefused: hourly.refusedSeries,
    dayCurrent: daily.currentSeries, dayMax: daily.maxSeries, dayUsed: usedOf(daily), dayRefused: daily.refusedSeries,
    ...(active && {
      activeCurrent: active.currentSeries, activeMax: active.maxSeries, activeUsed: usedOf(active),
      activeRefused: active.refusedSeries, activeRefusedExact: active.refusedSeriesExact,
    }),
    demand: hourly.currentSeries + hourly.refusedSeries + daily.refusedSeries + (active?.refusedSeries ?? 0),
    text: `${limit ?? "tenant"} ${group} ${entry.tenant ?? ""}`.toLowerCase(),
  };
};

const countCells = (budget, of) => {
  const max = budget[`${of}Max`];
  const used = Math.floor(100 * budget[`${of}Used`] + 1e-9);
  const refused = budget[`${of}Refused`];
  const shade = Math.min(budget.refuses ? 100 : 95, used - (used % 5));
  return [
    make("td", {}, grouped(budget[`${of}Current`])),
    make("td", {}, max === 0 ? "–" : grouped(max)),
    max === 0 ? make("td", {}) : make("td", { class: `used u${shade}` }, `${grouped(used)} %`),
    make("td", refused > 0 && budget.refuses ? { class: "bad" } : {}, countText(refused, budget[`${of}RefusedExact`])),
  ];
};

const budgetRow = (budget) =>
  make("tr", {},
    make("th", { scope: "row" }, budget.limit === undefined ? make("em", {}, "tenant") : name(budget.limit)),
    make("td", {}, name(budget.group, 90), ...(budget.note ? [" ", make("span", { class: "quiet" }, budget.note)] : [])),
    make("td", {}, name(budget.tenant)), make("td", {}, budget.mode),
    ...countCells(budget, "hour"), ...countCells(budget, "day"),
    ...(budget.activeMax === undefined ? [] : countCells(budget, "active")));

const compare = (one, other) => {
  const [a, b] = [one[budgets.by] ?? "", other[budgets.by] ?? ""];
  const order = typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0;
  return budgets.descending ? -order : order;
};

/** A page of those that pass the filter. */
const paintBudgets = () => {
  const pages = Math.max(1, Math.ceil(budgets.shown.length / rowsPerPage));
  budgets.page = Math.min(budgets.page, pages - 1);
  const first = budgets.page * rowsPerPage;
  const rows = budgets.shown.slice(first, first + rowsPerPage);
  const none = make("tr", {}, make("td", { colspan: "16", class: "none" }, "No budget matches."));
  find("budget-rows").replaceChildren(...(rows.length === 0 ? [none] : rows.map(budgetRow)));
  const range = rows.length === 0 ? "0" : `${grouped(first + 1)} to ${grouped(first + rows.length)}`;
  const filtered = budgets.shown.length === budgets.all.length ? "" : ` (${grouped(budgets.all.length)} in all)`;
  find("budget-count").textContent = `${range} of ${grouped(budgets.shown.length)}${filtered}`;
  find("budget-back").disabled = budgets.page === 0;
  find("budget-on").disabled = budgets.page === pages - 1;
};

const arrangeBudgets = () => {
  const wanted = find("budget-filter").value.trim().toLowerCase();
  const onlySpent = find("budget-spent").checked;
  budgets.shown = budgets.all.filter((each) =>
    each.text.includes(wanted) && (!onlySpent || each.hourRefused > 0 || each.dayRefused > 0 || each.activeRefused > 0));
  budgets.shown.sort(compare); // stable: what is equal stays in the order of demand
  paintBudgets();
};

const isInUse = (element) =>
  element.contains(document.activeElement) || element.querySelector("details[open]") !== null || hasSelection(element);

/** All of them from /stats; many are asked for once a minute. */
const refreshBudgets = async () => {
  const section = find("budgets");
  if (section.dataset.total === "0") return;
  const many = Number(section.dataset.total) > manyBudgets;
  if (many && Date.now() - budgets.asked < 60_000) return;
  budgets.asked = Date.now();
  const answer = await fetch("stats", { cache: "no-store", signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) return;
  const { tenants, limits } = await answer.json();
  budgets.all = [...tenants.map((each) => budgetOf(each)), ...limits.map((each) => budgetOf(each, each.name))];
  budgets.all.sort((one, other) => other.demand - one.demand);
  const rows = find("budget-rows");  // a page without budgets may have come meanwhile
  if (rows && !isInUse(rows)) arrangeBudgets();
};

const sortBudgets = (by) => {
  const isText = ["limit", "group", "tenant", "mode"].includes(by);
  budgets.descending = budgets.by === by ? !budgets.descending : !isText;
  budgets.by = by;
  budgets.page = 0;
  for (const head of document.querySelectorAll("th[data-by]")) {
    if (head.dataset.by === by) head.setAttribute("aria-sort", budgets.descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  arrangeBudgets();
  say(`Sorted by ${by}, ${budgets.descending ? "descending" : "ascending"}`);
};

const turnPage = (by) => {
  budgets.page += by;
  paintBudgets();
  find("budget-box").scrollTop = 0;
  say(find("budget-count").textContent);
};

const startBudgets = () => {
  if (!find("budget-controls")) return;
  find("budget-controls").hidden = false;
  find("budget-controls").addEventListener("submit", (event) => event.preventDefault());
  for (const control of ["budget-filter", "budget-spent"])
    find(control).addEventListener("input", () => {
      budgets.page = 0;
      arrangeBudgets();
      say(find("budget-count").textContent);
    });
  find("budget-back").addEventListener("click", () => turnPage(-1));
  find("budget-on").addEventListener("click", () => turnPage(1));
  for (const head of document.querySelectorAll("th[data-by]")) {
    const button = make("button", { type: "button" }, head.textContent);
    button.addEventListener("click", () => sortBudgets(head.dataset.by));
    head.replaceChildren(button);
  }
};
