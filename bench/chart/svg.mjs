// Draws bar charts as an SVG that is readable on light and dark pages: one file, no scripts, no embedded fonts.

const WIDTH = 880;
const COLUMNS = 2;
const MARGIN = 24;
const GAP = 32;
const ROW_HEIGHT = 22;
const BAR_HEIGHT = 13;
const NAME_WIDTH = 128;
const VALUE_WIDTH = 112;
const TITLE_HEIGHT = 58;
const PANEL_TITLE_HEIGHT = 46;

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
 * Returns the SVG of a chart. Each of the `panels` has a `title`, a `hint` and `rows`. A row has a `name`, a `value`, a `text` that shows the
 * value, and optionally a `kind`: `own` for the subject of the chart, `base` for the reference.
 */
export function svg({ title, subtitle, panels, note }) {
  const panelWidth = (WIDTH - 2 * MARGIN - GAP * (COLUMNS - 1)) / COLUMNS;
  const parts = [];
  let top = MARGIN + TITLE_HEIGHT;
  for (let first = 0; first < panels.length; first += COLUMNS) {
    const neighbours = panels.slice(first, first + COLUMNS);
    neighbours.forEach((panel, column) =>
      parts.push(panelText(panel, { left: MARGIN + column * (panelWidth + GAP), top, width: panelWidth })),
    );
    top += PANEL_TITLE_HEIGHT + Math.max(...neighbours.map(({ rows }) => rows.length)) * ROW_HEIGHT + GAP;
  }
  const height = top + ROW_HEIGHT - GAP / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
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
  const maxValue = Math.max(...rows.map(({ value }) => value), Number.MIN_VALUE);
  const maxLength = width - NAME_WIDTH - VALUE_WIDTH;
  const lines = rows.map(({ name, value, text, kind = 'bar' }, index) => {
    const y = top + PANEL_TITLE_HEIGHT + index * ROW_HEIGHT;
    const length = Math.max(2, (value / maxValue) * maxLength).toFixed(1);
    const labelKind = kind === 'own' ? 'ours' : undefined;
    return [
      label(name, { x: left + NAME_WIDTH - 8, y: y + BAR_HEIGHT - 2, kind: labelKind, anchor: 'end' }),
      `<rect class="${kind}" x="${left + NAME_WIDTH}" y="${y}" width="${length}" height="${BAR_HEIGHT}" rx="2"/>`,
      label(text, { x: left + NAME_WIDTH + Number(length) + 6, y: y + BAR_HEIGHT - 2, kind: labelKind }),
    ].join('');
  });
  return [
    label(title, { x: left, y: top + 12, kind: 'panel' }),
    label(hint, { x: left, y: top + 29, kind: 'hint' }),
    ...lines,
  ].join('\n');
}

function label(text, { x, y, kind, anchor }) {
  const attributes = `${kind ? ` class="${kind}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''}`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}"${attributes}>${escapeXml(text)}</text>`;
}

function escapeXml(text) {
  return text.replace(/[&<>"]/g, (char) => `&#${char.codePointAt(0)};`);
}
