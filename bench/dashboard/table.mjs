/** Formats the figures of `measureDashboard` as text. */
export function dashboardTable({ tools, records, goalMs, rows }) {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const figure = (ms) => (ms === undefined ? '' : ms.toFixed(0)).padStart(6);
  const lines = rows.map(({ name, p50, p95, answered, answeredP95 }) =>
    `${name.padEnd(width)}  ${figure(p50)}  ${figure(p95)}  ${figure(answered)}  ${figure(answeredP95)}  ${p95 <= goalMs ? '' : 'MISSED'}`.trimEnd(),
  );
  const head = `The dashboard with ${tools.toLocaleString('en-US')} tools and ${records.toLocaleString('en-US')} records: from a key press to the frame that shows it (goal ${goalMs}), and to the gateway's answer where one is asked for, ms`;
  return [head, `${''.padEnd(width)}     p50     p95  answer     p95`, ...lines].join('\n');
}
