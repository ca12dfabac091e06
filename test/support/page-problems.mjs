// Runs in every page of a browser test. findPageProblems() returns how text from a server has damaged the page.
let longestTaskMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestTaskMs = Math.max(longestTaskMs, duration);
}).observe({ entryTypes: ['longtask'] });

globalThis.findPageProblems = (maxTaskMs) => {
  const problems = new Set();
  const { document, innerWidth } = globalThis;
  if (globalThis.ran !== undefined) problems.add(`ran ${globalThis.ran}`);
  if (longestTaskMs > maxTaskMs) problems.add(`blocked for ${longestTaskMs} ms`);
  longestTaskMs = 0;
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) problems.add(`is ${scrollWidth} pixels wide`);
  const foreign =
    'main :is(script, iframe, style, object, [onerror], [onload]), a[href^="javascript:"], a[href^="data:"]';
  if (document.querySelector(foreign) !== null) problems.add('has an element of a server');
  for (const [where, text] of readTexts(document.body)) {
    if (/[\p{Cs}\u0000\u00AD\u202E\u2066\uFFFE]/u.test(text)) problems.add(`invisible character in ${where}`);
    if (/\p{M}{7}/u.test(text)) problems.add(`stacked marks in ${where}`);
  }
  // Content of a server must not cover the navigation; only our own dialogs may.
  const isCovered = (link) => {
    const { x, y, width, height } = link.getBoundingClientRect();
    const top = document.elementFromPoint(x + width / 2, y + height / 2);
    return width > 0 && top !== null && !link.contains(top);
  };
  if (document.querySelector('dialog[open]') === null)
    for (const link of document.querySelectorAll('nav a'))
      if (isCovered(link)) problems.add(`${link.textContent} is covered`);
  return [...problems];
};

/** Yields every text and label below the element, with its location. */
function* readTexts(root) {
  const { NodeFilter, document } = globalThis;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.currentNode; node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (node.nodeType === 3) yield [`text of ${parent?.tagName}.${parent?.className}`, node.nodeValue];
    else
      for (const name of ['title', 'aria-label', 'placeholder', 'alt'])
        yield [`${name} of ${node.tagName}`, node.getAttribute(name) ?? ''];
  }
}
