/** Formats a figure by its kind; a missing one is a dash. */
const FORMATS = {
  text: String,
  count: (value) => Math.round(value).toLocaleString('en-US'),
  figure,
  signed: (value) => `${value >= 0 ? '+' : ''}${figure(value)}`,
  ratio: (value) => (value >= 0.1 ? `${value.toFixed(2)} ×` : `${value.toPrecision(2)} ×`),
};

/**
 * Formats rows as text, one line each. A column has a `key` of the rows, a `title` and a `kind`; a row has a `name`. Columns without any
 * figure are left out.
 */
export function columnsTable({ title, columns, rows, notes = [] }) {
  const used = columns.filter(({ key }) => rows.some((row) => isThere(row[key])));
  const head = ['', ...used.map((column) => column.title)];
  const cells = rows.map((row) => [row.name, ...used.map((column) => cell(row[column.key], column.kind))]);
  const texts = new Set(used.flatMap(({ kind }, index) => (kind === 'text' ? [index + 1] : [])));
  return ['', title, ...aligned([head, ...cells], texts), ...notes.map((note) => `  ${note}`)].join('\n');
}

/** Aligns the first column and the given ones to the left, the others to the right. */
export function aligned(rows, texts = new Set()) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) =>
    row
      .map((text, column) =>
        column === 0 || texts.has(column) ? text.padEnd(widths[column]) : text.padStart(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** Rounds to about three digits. */
export function figure(value) {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

function cell(value, kind = 'figure') {
  return isThere(value) ? FORMATS[kind](value) : kind === 'text' ? '' : '–';
}

function isThere(value) {
  return value !== undefined && value !== null && !Number.isNaN(value);
}
