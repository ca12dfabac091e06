// Draws bars as an SVG that is readable on light and dark pages: one file, no scripts, no embedded fonts.

const WIDTH = 880;
const COLUMNS = 2;
const MARGIN = 24;
const GAP = 32;
const LINE = 22;
const BAR = 13;
const NAME_WIDTH = 128;
const VALUE_WIDTH = 112;
const HEAD = 58;
const PANEL_HEAD = 46;

const STYLE = `
  text { font: 12px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #24292f; }
  .page { fill: #ffffff; }
  .title { font-size: 17px; font-weight: 600; }
  .panel { font-size: 13px; font-weight: 600; }
  .hint { fill: #59636e; font-size: 11px; }
  .bar { fill: #b6bfc8; }
  .own { fill: #1f6feb; }
  .base { fill: #8c959f; }
  .ours { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; }
    .hint { fill: #9198a1; }
    .bar { fill: #444c56; }
    .own { fill: #4493f8; }
    .base { fill: #6e7681; }
  }
`;

/**
 * `panels` have a `title`, a `hint` and `rows` with `name`, `value`, `text` and optionally `kind`: `own` for the subject of
 * the chart, `base` for the reference.
 */
export function svg({ title, subtitle, panels, note }) {
  const width = (WIDTH - 2 * MARGIN - GAP * (COLUMNS - 1)) / COLUMNS;
  const parts = [];
  let top = MARGIN + HEAD;
  for (let first = 0; first < panels.length; first += COLUMNS) {
    const line = panels.slice(first, first + COLUMNS);
    line.forEach((panel, column) =>
      parts.push(panelText(panel, { left: MARGIN + column * (width + GAP), top, width })),
    );
    top += PANEL_HEAD + Math.max(...line.map(({ rows }) => rows.length)) * LINE + GAP;
  }
  const height = top + LINE - GAP / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}" rx="8"/>`,
    label(title, { x: MARGIN, y: MARGIN + 14, kind: 'title' }),
    label(subtitle, { x: MARGIN, y: MARGIN + 34, kind: 'hint' }),
    ...parts,
    label(note, { x: MARGIN, y: height - MARGIN + 6, kind: 'hint' }),
    '</svg>\n',
  ].join('\n');
}

function panelText({ title, hint, rows }, { left, top, width }) {
  const most = Math.max(...rows.map(({ value }) => value), Number.MIN_VALUE);
  const room = width - NAME_WIDTH - VALUE_WIDTH;
  const lines = rows.map(({ name, value, text, kind = 'bar' }, index) => {
    const y = top + PANEL_HEAD + index * LINE;
    const length = Math.max(2, (value / most) * room).toFixed(1);
    const isOwn = kind === 'own' ? 'ours' : undefined;
    return [
      label(name, { x: left + NAME_WIDTH - 8, y: y + BAR - 2, kind: isOwn, anchor: 'end' }),
      `<rect class="${kind}" x="${left + NAME_WIDTH}" y="${y}" width="${length}" height="${BAR}" rx="2"/>`,
      label(text, { x: left + NAME_WIDTH + Number(length) + 6, y: y + BAR - 2, kind: isOwn }),
    ].join('');
  });
  return [
    label(title, { x: left, y: top + 12, kind: 'panel' }),
    label(hint, { x: left, y: top + 29, kind: 'hint' }),
    ...lines,
  ].join('\n');
}

function label(text, { x, y, kind, anchor }) {
  const shape = `${kind ? ` class="${kind}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''}`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${shape}>${escaped(text)}</text>`;
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (char) => `&#${char.codePointAt(0)};`);
}
