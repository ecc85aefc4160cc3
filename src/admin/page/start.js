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
