// The paste box of the live server: the log goes to our own server only, as bytes, and the answer comes back as a page.
(function () {
  "use strict";
  var form = document.getElementById("paste");
  if (!form) return;
  var log = document.getElementById("log");
  var answer = document.getElementById("answer");
  var working = document.getElementById("working");
  var file = document.getElementById("file");
  var place = form.closest(".paste");
  var sent = 0;
  document.getElementById("choose").hidden = false;

  function send(body, again) {
    var mine = ++sent, later = false;
    var box = document.getElementById("q");
    if (box && box.value) { box.value = ""; box.dispatchEvent(new Event("input")); }
    working.hidden = false;
    if (!again) working.textContent = working.dataset.working;
    answer.replaceChildren();
    answer.setAttribute("aria-busy", "true");
    fetch(form.action, { method: "POST", body: body, headers: { "Content-Type": "application/octet-stream", "X-Part": "answer" }, credentials: "omit" })
      .then(function (reply) {
        // The server still compiles the entries: it says so, and the log is sent again until it is answered.
        later = reply.headers.has("Retry-After");
        return reply.text();
      })
      .then(function (text) {
        if (mine !== sent) return;
        if (later) {
          working.textContent = working.dataset.starting;
          setTimeout(function () { if (mine === sent) send(body, true); }, 1000);
          return;
        }
        var page = new DOMParser().parseFromString(text, "text/html");
        var found = page.getElementById("answer");
        answer.replaceChildren.apply(answer, found ? Array.from(found.childNodes) : [text]);
        window.addCopyButtons(answer);
        document.body.classList.add("answered");
        var head = answer.querySelector("h2, h3");
        if (head) { head.tabIndex = -1; head.focus({ preventScroll: true }); }
        var panel = answer.querySelector(".log");
        var mark = panel && panel.querySelector(".ev");
        if (mark) panel.scrollTop = mark.getBoundingClientRect().top - panel.getBoundingClientRect().top - panel.clientHeight / 3;
        answer.scrollIntoView({ block: "start" });
      })
      .catch(function () { if (mine === sent) answer.textContent = working.dataset.unreachable; })
      .finally(function () { if (mine === sent && !later) { working.hidden = true; answer.removeAttribute("aria-busy"); } });
  }

  form.addEventListener("submit", function (event) {
    event.preventDefault();
    if (log.value.trim()) send(new Blob([log.value]));
    else log.focus();
  });
  log.addEventListener("paste", function () {
    // A paste is the whole question as a rule: answer it at once.
    var empty = !log.value.trim();
    if (empty) setTimeout(function () { if (log.value.trim()) send(new Blob([log.value])); });
  });
  log.addEventListener("keydown", function (event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  file.addEventListener("change", function () { if (file.files.length) send(file.files[0]); file.value = ""; });

  ["dragenter", "dragover"].forEach(function (name) {
    document.addEventListener(name, function (event) {
      if (!event.dataTransfer || Array.from(event.dataTransfer.types).indexOf("Files") < 0) return;
      event.preventDefault();
      place.classList.add("over");
    });
  });
  document.addEventListener("dragleave", function (event) { if (!event.relatedTarget) place.classList.remove("over"); });
  document.addEventListener("drop", function (event) {
    place.classList.remove("over");
    if (!event.dataTransfer || !event.dataTransfer.files.length) return;
    event.preventDefault();
    send(event.dataTransfer.files[0]);
  });

  // With an answer on the page, a language link asks for the same answer in that language.
  document.querySelectorAll(".language").forEach(function (language) {
    language.addEventListener("click", function (event) {
      if (!answer.childElementCount || !log.value.trim()) return;
      event.preventDefault();
      form.action = language.getAttribute("href").replace(/[^/]*$/, "diagnose.html");
      form.submit();
    });
  });
})();
