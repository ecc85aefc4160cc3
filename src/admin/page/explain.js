// Whether a series would be admitted, asked of the gate: one that is typed in, or one of those that were refused.

const explainRow = ({ limit, group, tenant, mode, hourly, daily, active }) => {
  const labels = Object.entries(group).map(([label, value]) => `${label}=${value}`).join(", ");
  const count = ({ currentSeries, maxSeries }) => (maxSeries === 0 ? "not limited" : `${grouped(currentSeries)} of ${grouped(maxSeries)}`);
  const room = (window) => make("td", window.hasRoom || !refusesSeries(mode, limit) ? {} : { class: "bad" }, count(window));
  return make("tr", {}, make("th", { scope: "row" }, name(limit)), make("td", {}, name(labels)), make("td", {}, name(tenant ?? "")),
    room(hourly), room(daily), ...(active ? [room(active)] : []));
};

const explainBudgets = (budgets) => {
  const heads = ["limit", "group", "tenant", "this hour", "today", ...(budgets[0].active ? ["active"] : [])].map((text) => make("th", { scope: "col" }, text));
  return make("table", { "aria-labelledby": "explain-title" }, make("thead", {}, make("tr", {}, ...heads)),
    make("tbody", {}, ...budgets.slice(0, 20).map(explainRow)));
};

const explain = async () => {
  const asked = new URLSearchParams({ series: find("explain-series").value, tenant: find("explain-tenant").value });
  const shown = find("explain-answer");
  try {
    const answer = await fetch(`api/v1/explain?${asked}`, { cache: "no-store", signal: AbortSignal.timeout(answerWithin) });
    const { data, error } = await answer.json();
    if (!answer.ok) return shown.replaceChildren(make("p", { class: "bad" }, error));
    const said = make("p", {}, make("strong", {}, data.decision), `: ${data.why}.`);
    shown.replaceChildren(said, ...(data.budgets?.length ? [explainBudgets(data.budgets)] : []));
  } catch ({ message }) {
    shown.replaceChildren(make("p", {}, `The gate has not answered: ${message}`));
  }
};

const startExplaining = () => {
  find("explain").hidden = false;
  find("explain-form").addEventListener("submit", (event) => {
    event.preventDefault();
    explain();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.why");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { searchParams } = new URL(link.href);
    find("explain-series").value = searchParams.get("series");
    find("explain-tenant").value = searchParams.get("tenant") ?? "";
    find("explain").scrollIntoView({ block: "nearest" });
    explain();
  });
};
