() => {
  const wrong = [], all = (query, root = document) => [...root.querySelectorAll(query)];
  const demand = (holds, what) => { if (!holds) wrong.push(what); };
  const named = (element) => (element.getAttribute("aria-labelledby") || "").split(" ")
    .map((id) => document.getElementById(id)?.textContent.trim()).filter(Boolean).join(" ")
    || element.getAttribute("aria-label");
  demand(document.documentElement.lang === "en", "the page has a language");
  demand(document.title.trim(), "the page has a title");
  for (const [query, count] of [["main", 1], ["header", 1], ["nav", 1], ["footer", 1], ["h1", 1]])
    demand(all(query).length === count, `there is ${count} ${query}`);
  const outside = all("body > *").filter((e) => !["HEADER", "NAV", "MAIN", "FOOTER"].includes(e.tagName));
  demand(outside.every((e) => e.matches("a.skip")), "everything is in a landmark");
  demand(all("nav, section, [role=group], [role=img]").every(named), "every landmark, group, picture has a name");
  const levels = all("h1, h2, h3, h4").map((e) => +e.tagName[1]);
  demand(levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1), "no level of headings is left out");
  for (const table of all("table")) {
    const caption = table.caption?.textContent.trim();
    demand(caption, "every table has a caption");
    demand(all("th", table).every((th) => ["col", "row"].includes(th.scope)), `${caption}: headers have a scope`);
    demand(all("th", table).every((th) => th.textContent.trim()), `${caption}: headers have a text`);
    demand(all("tbody tr", table).every((tr) => tr.cells[0].tagName === "TH"), `${caption}: rows have a header`);
    const width = table.tHead.rows[0].cells.length;
    demand([...table.rows].every((tr) => tr.cells.length === width), `${caption}: rows are equally long`);
  }
  for (const svg of all("svg")) {
    demand(svg.querySelector("title")?.textContent && svg.querySelector("desc")?.textContent,
      "every picture has title and description");
    demand(svg.closest("figure").querySelector("table"), "every picture has a table beside it");
  }
  const ids = all("[id]").map((e) => e.id);
  demand(new Set(ids).size === ids.length, "ids are unique");
  demand(all("a").every((a) => a.getAttribute("href").startsWith("#")
    && document.getElementById(a.getAttribute("href").slice(1))), "links lead somewhere on the page");
  demand(all("[tabindex]").every((e) => e.tabIndex <= 0), "the order of focus is the order of reading");
  demand(all("script, link, img, iframe, object, embed, form, input, button").length === 0, "nothing but text");
  demand(all("*").every((e) => ![...e.attributes].some((a) => a.name.startsWith("on") || a.name === "style")),
    "no handlers, no styles of single elements");
  demand(document.documentElement.scrollWidth <= window.innerWidth, "nothing is wider than the window");
  return wrong;
}
