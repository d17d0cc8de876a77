// The start page: search as you type over both languages, and filters; the state stands in the address.
(function () {
  "use strict";
  var PAGE = 30;
  var box = document.getElementById("q");
  var filters = document.getElementById("filters");
  var all = document.getElementById("all");
  var results = document.getElementById("results");
  var count = document.getElementById("count");
  var more = document.getElementById("more");
  var rows = new Map();
  all.querySelectorAll("li[data-id]").forEach(function (li) { rows.set(li.dataset.id, li); });
  var shown = PAGE;

  // Chinese has no blanks: single characters and pairs of them. Names are also taken apart at _ and capitals.
  var WORD = /[\u3400-\u9fff]+|[\p{L}\p{N}_]+/gu;
  function words(text) {
    var out = [];
    var found = String(text).match(WORD) || [];
    for (var i = 0; i < found.length; i++) {
      var word = found[i];
      if (/[\u3400-\u9fff]/.test(word)) {
        for (var j = 0; j < word.length; j++) {
          if (j + 1 < word.length) out.push(word.slice(j, j + 2));
          else if (word.length === 1) out.push(word);
        }
        continue;
      }
      out.push(word.toLowerCase());
      var parts = word.split(/_+|(?<=[a-z0-9])(?=[A-Z])/).filter(function (p) { return p.length > 1; });
      if (parts.length > 1) parts.forEach(function (p) { out.push(p.toLowerCase()); });
    }
    return out;
  }

  var FIELDS = ["title", "zh", "messages", "cause", "zhCause", "names"];
  var known = new Set();
  var index = new MiniSearch({
    fields: FIELDS,
    tokenize: function (text) { return words(text); },
    processTerm: function (term) { known.add(term); return term; }
  });
  index.addAll(window.TROUBLESHOOT || []);

  var COMMON = new Set(("a an and are as at be by can do does for from has have if in is it its no not of on one or " +
    "that the then this to was were with").split(" "));

  // Typing errors: a word that no entry holds stands for the words of entries that are one or two changes away.
  var vocabulary = Array.from(known);
  var letters = Int32Array.from(vocabulary, mask);

  // The letters of a word as bits: a word that lacks several letters of another cannot be near to it.
  function mask(word) {
    var bits = 0;
    for (var i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31);
    return bits;
  }

  function many(bits, most) {
    for (var count = 0; bits; bits &= bits - 1) if (++count > most) return true;
    return false;
  }

  var near = new Map();

  function distance(a, b, most) {
    // Levenshtein with swaps, given up as soon as it exceeds `most`.
    var before = [], row = [], last = [];
    for (var j = 0; j <= b.length; j++) row[j] = j;
    for (var i = 1; i <= a.length; i++) {
      before = last; last = row; row = [i];
      var best = i;
      for (j = 1; j <= b.length; j++) {
        var cost = a[i - 1] === b[j - 1] ? 0 : 1;
        var value = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost);
        if (cost && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) value = Math.min(value, before[j - 2] + 1);
        row[j] = value;
        if (value < best) best = value;
      }
      if (best > most) return most + 1;
    }
    return row[b.length];
  }

  function alike(term, unfinished) {
    var key = (unfinished ? "<" : "=") + term;
    var found = near.get(key);
    if (found) return found;
    var most = term.length < 4 ? 0 : term.length < 7 ? 1 : 2;
    found = [];
    var own = mask(term);
    for (var i = 0; most && i < vocabulary.length; i++) {
      if (many(own & ~letters[i], most)) continue;
      var word = vocabulary[i];
      var other = unfinished && word.length > term.length ? word.slice(0, term.length) : word;
      if (Math.abs(other.length - term.length) > most) continue;
      var far = distance(term, other, most);
      if (far <= most) found.push([far, word]);
    }
    found.sort(function (a, b) { return a[0] - b[0]; });
    // Only the nearest words: what is one change away, else what is two.
    found = found.filter(function (one) { return one[0] === found[0][0]; }).slice(0, 12).map(function (one) { return one[1]; });
    near.set(key, found);
    return found;
  }

  function ranked(query) {
    var terms = Array.from(new Set(words(query))).slice(0, 32);
    if (!terms.length) return null;
    var last = terms[terms.length - 1];
    // Words of every entry tell nothing where rarer ones stand beside them.
    var telling = terms.filter(function (term) { return !COMMON.has(term) || term === last; });
    if (telling.length > 1) terms = telling;
    var typing = !/[\s\p{P}]$/u.test(query);
    var queries = terms.map(function (term) {
      var unfinished = typing && term === last && term.length > 1;
      if (known.has(term) || /[\u3400-\u9fff]/.test(term)) return { queries: [term], prefix: unfinished };
      var others = alike(term, unfinished);
      return unfinished && !others.length ? { queries: [term], prefix: true } : { queries: others, combineWith: "OR", boostTerm: function () { return 0.7; } };
    }).filter(function (one) { return one.queries.length; });
    var found = index.search({ combineWith: "OR", queries: queries }, {
      tokenize: function (text) { return [text]; },
      processTerm: function (term) { return term; },
      boost: { title: 3, zh: 3, messages: 2.5, names: 2, zhCause: 1, cause: 1 },
      weights: { fuzzy: 0.6, prefix: 0.5 }
    });
    // An entry that has most of the words comes before one that has a rare word often.
    found.forEach(function (one) { one.score *= 0.3 + one.queryTerms.length / queries.length; });
    found.sort(function (a, b) { return b.score - a.score; });
    var best = found.length ? found[0].score : 0;
    return found.filter(function (one) { return one.score > 0.2 * best; }).map(function (one) { return one.id; });
  }

  function chosen() {
    var data = new FormData(filters);
    return { area: data.get("area"), library: data.get("library"), severity: data.get("severity"), kind: data.get("kind") };
  }

  function passes(li, want) {
    var has = li.dataset;
    return (!want.area || has.area === want.area) && (!want.severity || has.severity === want.severity) &&
      (!want.kind || has.kind === want.kind) &&
      (!want.library || has.libraries.split(" ").indexOf(want.library) >= 0);
  }

  function keep(query, want) {
    var state = new URLSearchParams();
    if (query) state.set("q", query);
    Object.keys(want).forEach(function (name) { if (want[name]) state.set(name, want[name]); });
    var text = state.toString();
    try { history.replaceState(null, "", location.pathname + (text ? "#" + text : "")); } catch (error) { /* file:// in some browsers */ }
  }

  function show() {
    var query = box.value.trim();
    var want = chosen();
    var ids = ranked(query);
    var filtered = Object.values(want).some(Boolean);
    keep(query, want);
    if (ids === null && !filtered) {
      results.hidden = more.hidden = true;
      all.hidden = false;
      count.textContent = "";
      return;
    }
    ids = (ids || Array.from(rows.keys())).filter(function (id) { return rows.has(id) && passes(rows.get(id), want); });
    results.replaceChildren.apply(results, ids.slice(0, shown).map(function (id) { return rows.get(id).cloneNode(true); }));
    results.hidden = !ids.length;
    all.hidden = true;
    more.hidden = ids.length <= shown;
    var said = count.dataset;
    count.textContent = ids.length === 0 ? said.none : ids.length === 1 ? said.one : said.many.replace("{count}", ids.length);
  }

  function fresh() { shown = PAGE; show(); }

  function restore() {
    // "#L71" or "#main" name a place on the page, no state of the search.
    if (location.hash.length > 1 && location.hash.indexOf("=") < 0) return;
    var state = new URLSearchParams(location.hash.slice(1) || location.search);
    box.value = state.get("q") || "";
    ["area", "library", "severity", "kind"].forEach(function (name) {
      var select = filters.elements[name];
      select.value = state.get(name) || "";
      if (select.selectedIndex < 0) select.value = "";
    });
    fresh();
  }

  filters.hidden = false;
  box.addEventListener("input", fresh);
  box.form.addEventListener("submit", function (event) {
    event.preventDefault();
    var first = results.querySelector("a");
    if (!results.hidden && first) first.click();
  });
  box.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { box.value = ""; fresh(); }
    if (event.key === "ArrowDown") move(event, 0);
  });
  results.addEventListener("keydown", function (event) {
    var links = Array.from(results.querySelectorAll("a"));
    var at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") move(event, at + 1);
    if (event.key === "ArrowUp") { if (at <= 0) { event.preventDefault(); box.focus(); } else move(event, at - 1); }
  });
  function move(event, to) {
    var links = results.querySelectorAll("a");
    if (links[to]) { event.preventDefault(); links[to].focus(); }
  }
  filters.addEventListener("change", fresh);
  filters.addEventListener("reset", function () { setTimeout(function () { box.value = ""; fresh(); }); });
  more.addEventListener("click", function () { shown += 100; show(); });
  addEventListener("hashchange", restore);
  restore();
  ranked("warmm upp the serch");
})();
