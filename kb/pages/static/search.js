// Search as you type, and filters, on the start page. The data is loaded when the search is first used.
//
// The ranking is that of kb/search.py, step by step, over the index that it made: a change belongs into both
// (tests/kb/test_search.py compares their answers). The state of the search stands in the address.
(function (root) {
  "use strict";
  var PLACES = [1, 0.8, 0.5], FORM = 0.7, TYPO = 0.7, STEM = 4, SPELLINGS = 12, LEAST = 0.35;
  var TITLE = 0.05, NAME = 0.2, COMMON = 0.5, COMMONEST = 64, HARMLESS = 0.85;
  var SMALL = new Set(("an and are as at be but by for from has in into is it its not of on or so than that the this to " +
    "was with").split(" "));

  function words(text) {
    var found = new Set();
    (text.toLowerCase().match(/[a-z_][a-z0-9_.]*[a-z0-9_]/g) || []).forEach(function (word) {
      found.add(word);
      if (/[._]/.test(word)) word.split(/[._]/).forEach(function (part) { if (part.length > 2) found.add(part); });
    });
    (text.match(/(?<![\p{L}\p{N}_.])[0-9]+(?:\.[0-9]+)?(?![\p{L}\p{N}_%]|\.[\p{L}\p{N}_])/gu) || []).forEach(function (number) {
      found.add(number.replace(/\.0$/, ""));
    });
    (text.match(/[\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]+/g) || []).forEach(function (run) {
      for (var i = 0; i < Math.max(run.length - 1, 1); i++) found.add(run.slice(i, i + 2));
    });
    return Array.from(found).filter(function (word) { return !SMALL.has(word); }).sort();
  }

  function pairs(text) {
    var plain = text.toLowerCase().split(/\s+/).filter(function (word) { return /^[a-z0-9]+$/.test(word); });
    var found = new Set();
    for (var i = 1; i < plain.length; i++) found.add(plain[i - 1] + "-" + plain[i]);
    return Array.from(found).sort();
  }

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

  // Characters to insert, remove, replace or swap to make one word of another; given up above `most`.
  function distance(a, b, most) {
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

  // data: what kb.search.encode made; ids: the entries' names by number.
  function Index(data, ids) {
    var known = data.words, letters = Int32Array.from(known, mask), kept = new Map();

    function at(word) {
      var low = 0, high = known.length;
      while (low < high) { var middle = (low + high) >> 1; if (known[middle] < word) low = middle + 1; else high = middle; }
      return low;
    }

    function holders(word) {
      var place = at(word);
      if (known[place] !== word) return [[], [], []];
      return data.holders[place].split("|").map(function (text) {
        var number = 0;
        return text ? text.split(",").map(function (step) { return (number += parseInt(step, 36)); }) : [];
      });
    }

    function count(places) { return places[0].length + places[1].length + places[2].length; }

    function spellings(word) {
      var most = word.length < 7 ? 1 : 2, own = mask(word), least = most, found = [];
      for (var i = 0; i < known.length; i++) {
        var other = known[i];
        if (Math.abs(other.length - word.length) > most || many(own & ~letters[i], most)) continue;
        var far = distance(word, other, most);
        if (far <= most) { found.push([far, other]); least = Math.min(least, far); }
      }
      return found.filter(function (one) { return one[0] === least; })
        .map(function (one) { return [count(holders(one[1])), one[1]]; })
        .sort(function (a, b) { return b[0] - a[0] || (a[1] < b[1] ? -1 : 1); })
        .slice(0, SPELLINGS).map(function (one) { return one[1]; });
    }

    function variants(word) {
      var place = at(word), here = known[place] === word, out = new Map();
      if (here) out.set(word, 1);
      if (!/^[a-z_]/.test(word)) return out;
      if (word.length >= STEM || (!here && word.length > 1)) {
        for (var i = place + (here ? 1 : 0); i < known.length && known[i].startsWith(word); i++) out.set(known[i], FORM);
        for (var length = STEM; length < word.length; length++) {
          var start = word.slice(0, length);
          if (known[at(start)] === start) out.set(start, FORM);
        }
      }
      if (!out.size && word.length >= STEM) spellings(word).forEach(function (other) { out.set(other, TYPO); });
      return out;
    }

    // What one word gives: its weight, and by entry what it counts for. Kept, as a person types one word after another.
    function told(word) {
      var known = kept.get(word);
      if (known) return known;
      var best = new Map(), titled = new Set(), most = 0;
      variants(word).forEach(function (worth, variant) {
        var places = holders(variant);
        most = Math.max(most, count(places));
        places[0].forEach(function (number) { titled.add(number); });
        places.forEach(function (numbers, place) {
          numbers.forEach(function (number) {
            var value = PLACES[place] * worth;
            if (!(best.get(number) >= value)) best.set(number, value);
          });
        });
      });
      known = { weight: most ? Math.log(1 + ids.length / most) : 0, best: best, titled: titled };
      if (kept.size > 200) kept.clear();
      kept.set(word, known);
      return known;
    }

    function find(asked) {
      var total = 0, shares = new Map(), inTitle = new Map(), inId = new Map();
      function add(map, number, value) { map.set(number, (map.get(number) || 0) + value); }
      words(asked).forEach(function (word) {
        var one = told(word);
        if (!one.weight) return;
        total += one.weight;
        one.best.forEach(function (worth, number) { add(shares, number, one.weight * worth); });
        one.titled.forEach(function (number) { add(inTitle, number, 1); });
      });
      pairs(asked).forEach(function (pair) { holders(pair)[0].forEach(function (number) { add(inId, number, 1); }); });
      var scored = [];
      shares.forEach(function (sum, number) {
        var share = sum / total, fact = data.facts[number];
        if (share < LEAST) return;
        var score = share + TITLE * (inTitle.get(number) || 0) / Math.max(fact[1], 1);
        score += NAME * (inId.get(number) || 0) / Math.max(ids[number].split("-").length - 1, 1);
        score *= 1 + COMMON * Math.min(1, Math.log(1 + fact[0]) / Math.log(1 + COMMONEST));
        scored.push([fact[2] ? score * HARMLESS : score, number]);
      });
      scored.sort(function (a, b) { return b[0] - a[0] || (ids[a[1]] < ids[b[1]] ? -1 : 1); });
      return scored.map(function (one) { return one[1]; });
    }

    return { find: find, words: words };
  }

  if (!root.document) { root.SearchIndex = Index; return; }

  var PAGE = 30;
  var box = document.getElementById("q");
  var filters = document.getElementById("filters");
  var fold = document.getElementById("fold");
  var results = document.getElementById("results");
  var count = document.getElementById("count");
  var more = document.getElementById("more");
  var data = results.dataset;
  var NAMES = ["area", "library", "severity", "kind"];
  var shown = PAGE, entries = null, index = null, loading = {};

  // Scripts, as a page that was opened as a file may fetch nothing else.
  function load(address, then) {
    if (loading[address]) return;
    loading[address] = true;
    var script = document.createElement("script");
    script.src = address;
    script.onload = then;
    script.onerror = function () { loading[address] = false; count.textContent = data.unreachable; };
    document.head.appendChild(script);
  }

  function ready() {
    load(data.entries, function () { entries = root.TROUBLESHOOT.entries; started(); });
    load(data.index, started);
  }

  function started() {
    if (!entries || !root.TROUBLESHOOT.index) return;
    index = index || Index(root.TROUBLESHOOT.index, entries.map(function (row) { return row.id; }));
    show();
  }

  function chosen() {
    var given = new FormData(filters), want = {};
    NAMES.forEach(function (name) { want[name] = given.get(name) || ""; });
    return want;
  }

  function passes(row, want) {
    return (!want.area || row.area === want.area) && (!want.severity || row.severity === want.severity) &&
      (!want.kind || row.kind === want.kind) && (!want.library || row.libraries.indexOf(want.library) >= 0);
  }

  function keep(query, want) {
    var state = new URLSearchParams();
    if (query) state.set("q", query);
    NAMES.forEach(function (name) { if (want[name]) state.set(name, want[name]); });
    var text = state.toString();
    try { history.replaceState(null, "", location.pathname + (text ? "#" + text : "")); } catch (error) { /* file:// in some browsers */ }
  }

  function item(row) {
    var li = document.createElement("li"), link = document.createElement("a"), badge = document.createElement("span");
    li.dataset.id = row.id;
    li.dataset.area = row.area;
    link.href = row.at;
    link.textContent = row.title;
    badge.className = "badge " + row.severity;
    badge.textContent = root.TROUBLESHOOT.severities[row.severity];
    li.append(link, badge);
    return li;
  }

  function show() {
    var query = box.value.trim(), want = chosen();
    var searching = Boolean(query) || NAMES.some(function (name) { return want[name]; });
    document.body.classList.toggle("searching", searching);
    keep(query, want);
    if (!searching) {
      results.hidden = more.hidden = true;
      count.textContent = "";
      return;
    }
    if (!index) { count.textContent = data.loading; ready(); return; }
    var found = query && words(query).length ? index.find(query) : common();
    found = found.map(function (number) { return entries[number]; }).filter(function (row) { return passes(row, want); });
    results.replaceChildren.apply(results, found.slice(0, shown).map(item));
    results.hidden = !found.length;
    more.hidden = found.length <= shown;
    count.textContent = found.length === 0 ? data.none : found.length === 1 ? data.one : data.many.replace("{count}", found.length);
  }

  // All entries, the most common first.
  function common() {
    var facts = root.TROUBLESHOOT.index.facts;
    return entries.map(function (row, number) { return number; })
      .sort(function (a, b) { return facts[b][0] - facts[a][0] || a - b; });
  }

  function fresh() { shown = PAGE; show(); }

  function restore() {
    // "#L71" or "#main" name a place on the page, no state of the search.
    if (location.hash.length > 1 && location.hash.indexOf("=") < 0) return;
    var state = new URLSearchParams(location.hash.slice(1) || location.search);
    box.value = state.get("q") || "";
    NAMES.forEach(function (name) {
      var select = filters.elements[name];
      select.value = state.get(name) || "";
      if (select.selectedIndex < 0) select.value = "";
      if (select.value) fold.open = true;
    });
    fresh();
  }

  fold.hidden = false;
  box.addEventListener("focus", ready);
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
})(typeof window === "undefined" ? globalThis : window);
