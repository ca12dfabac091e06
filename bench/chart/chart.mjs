import { figure } from '../lib/columns.mjs';
import { svg } from './svg.mjs';

const ratio = (value) => `${value.toFixed(value >= 0.1 ? 2 : 3)} ×`;
const unit = (name) => (value) => `${figure(value)} ${name}`;

/** The columns that the chart shows, and which direction is better. */
const PANELS = [
  {
    id: 'stdio',
    key: 'rate16OfDirect',
    title: 'Calls a second over stdio',
    hint: '16 in flight, of the direct connection; more is better',
    isMore: true,
    text: ratio,
  },
  {
    id: 'http',
    key: 'rate16OfDirect',
    title: 'Calls a second over HTTP',
    hint: '16 in flight, of the direct connection; more is better',
    isMore: true,
    text: ratio,
  },
  {
    id: 'stdio',
    key: 'cpu',
    title: 'CPU of one call over stdio',
    hint: 'of the gateway alone; less is better',
    text: unit('µs'),
  },
  {
    id: 'http',
    key: 'cpu',
    title: 'CPU of one call over HTTP',
    hint: 'of the gateway alone; less is better',
    text: unit('µs'),
  },
  {
    id: 'clients500',
    key: 'rate',
    title: '500 HTTP clients at once',
    hint: 'calls a second, handshakes included; more is better',
    isMore: true,
    text: unit('/s'),
  },
  {
    id: 'cold',
    key: 'ms',
    title: 'First start, one of ten servers takes 3 s',
    hint: 'until the first list of tools; less is better',
    text: (value, { tools }) => `${figure(value)} ms, ${tools} tools`,
  },
];

/** The chart of a run; undefined if the run measured none of its columns. */
export function chart({ tables, machine, date, mode }) {
  const panels = PANELS.map((panel) => panelOf(panel, tables)).filter((panel) => panel !== undefined);
  if (panels.length === 0) return undefined;
  return svg({
    title: 'Trunkline beside other gateways',
    subtitle: `One run of npm run bench -- --${mode} on ${date.slice(0, 10)}; all in turns on the same machine`,
    panels,
    note: machine.replace(/, load before.*/, ''),
  });
}

function panelOf({ id, key, title, hint, isMore = false, text }, tables) {
  const table = tables.find((each) => each.id === id);
  const known = (table?.rows ?? []).filter((row) => typeof row[key] === 'number' && row.name !== 'direct');
  if (known.length === 0) return undefined;
  const sorted = known.toSorted((one, other) => (isMore ? other[key] - one[key] : one[key] - other[key]));
  const rows = sorted.map((row) => ({
    name: row.name.replace(' (lists its own tools)', ' *'),
    value: row[key],
    text: text(row[key], row),
    kind: row.name.startsWith('trunkline') ? 'own' : row.name === 'floor' ? 'base' : 'bar',
  }));
  const star = rows.some(({ name }) => name.endsWith(' *')) ? '; * lists its own tools only' : '';
  return { title, hint: hint + star, rows };
}
