const LINE_CHARS = 1000;

/** Joins entries with semicolons into lines of at most 1,000 characters, which editors can display. */
export function wrapEntries(entries) {
  const lines = [''];
  for (const entry of entries) {
    const last = lines.at(-1);
    if (last.length + entry.length > LINE_CHARS) lines.push(entry);
    else lines[lines.length - 1] = last === '' ? entry : `${last};${entry}`;
  }
  return lines.join('\n').trim();
}
