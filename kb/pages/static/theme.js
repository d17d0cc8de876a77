// Before the first paint: the theme that the reader chose here, if any.
(function () {
  "use strict";
  try {
    var chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch (error) { /* storage is off: the system's theme it is */ }
})();
