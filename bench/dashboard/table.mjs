/** The figures of `measureDashboard` for people. */
export function dashboardTable({ tools, records, goalMs, rows }) {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const figure = (ms) => ms.toFixed(0).padStart(6);
  const lines = rows.map(({ name, p50, p95 }) =>
    `${name.padEnd(width)}  ${figure(p50)}  ${figure(p95)}  ${p95 <= goalMs ? '' : 'MISSED'}`.trimEnd(),
  );
  const head = `The dashboard with ${tools.toLocaleString('en-US')} tools and ${records.toLocaleString('en-US')} records: from a key press to the frame that shows it, ms (goal ${goalMs})`;
  return [head, `${''.padEnd(width)}     p50     p95`, ...lines].join('\n');
}
