// Every page: copy buttons, the theme switch, and language links that keep place and query.
(function () {
  "use strict";
  var root = document.documentElement;
  var words = document.body.dataset;

  function say(text) {
    var said = document.getElementById("said");
    if (said) said.textContent = text;
  }

  function copyOld(text) {
    var area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    document.body.appendChild(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    return done ? Promise.resolve() : Promise.reject(new Error("refused"));
  }

  function copy(text) {
    if (!navigator.clipboard) return copyOld(text);
    return navigator.clipboard.writeText(text).catch(function () { return copyOld(text); });
  }

  function addCopyButtons(within) {
    within.querySelectorAll("figure.code:not(.ready)").forEach(function (figure) {
      figure.classList.add("ready");
      var button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = words.copy;
      button.addEventListener("click", function () {
        copy(figure.querySelector("code").textContent).then(
          function () { button.textContent = words.copied; say(words.copied); },
          function () { button.textContent = words.copyFailed; say(words.copyFailed); }
        );
        setTimeout(function () { button.textContent = words.copy; }, 1600);
      });
      figure.appendChild(button);
    });
  }
  window.addCopyButtons = addCopyButtons;
  addCopyButtons(document);

  var theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch (error) { /* not kept */ }
  });

  document.querySelectorAll(".language").forEach(function (language) {
    var bare = language.getAttribute("href");
    language.addEventListener("click", function () { language.href = bare + location.hash; });
  });

  document.addEventListener("keydown", function (event) {
    var target = event.target;
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("input, textarea, select")) return;
    var box = document.querySelector("input[type=search]");
    if (box) { event.preventDefault(); box.focus(); box.select(); }
  });

  // The section in view is marked in the table of contents.
  var links = {};
  document.querySelectorAll(".contents a").forEach(function (a) { links[a.hash.slice(1)] = a; });
  if ("IntersectionObserver" in window && Object.keys(links).length) {
    var seen = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting) return;
        Object.values(links).forEach(function (a) { a.removeAttribute("aria-current"); });
        links[entry.target.id].setAttribute("aria-current", "true");
      });
    }, { rootMargin: "-10% 0px -70% 0px" });
    Object.keys(links).forEach(function (id) {
      var section = document.getElementById(id);
      if (section) seen.observe(section);
    });
  }
})();
