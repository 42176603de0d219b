"use strict";
// Shows errors of later scripts in the page, where a reader (and a test) sees them.
window.addEventListener("error", (event) => {
  document.documentElement.dataset.error = event.message;
  const note = document.createElement("p");
  note.className = "notice failure";
  note.textContent = "A figure could not be drawn: " + event.message;
  (document.querySelector("main") || document.documentElement).prepend(note);
});
