// Copying what is to be pasted.

/** Where the page is no secure context there is no clipboard but this one. */
const copySelected = (of) => {
  const range = document.createRange();
  range.selectNodeContents(of);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  const copied = document.execCommand("copy");
  if (copied) getSelection().removeAllRanges(); // else it stays selected, for the keyboard
  return copied;
};

const copy = async (button) => {
  const source = find(button.dataset.copies);
  const copied = navigator.clipboard
    ? await navigator.clipboard.writeText(source.textContent).then(() => true, () => copySelected(source))
    : copySelected(source);
  button.textContent = copied ? "Copied" : "Selected";
  say(copied ? "Copied" : "Selected, press Ctrl and C");
  setTimeout(() => (button.textContent = "Copy"), 2000);
};

const showCopyButtons = (within) => {
  for (const button of within.querySelectorAll("button[data-copies]")) button.hidden = false;
};
