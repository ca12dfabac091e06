import { describe, expect, test } from 'vitest';

import { chart } from './chart.mjs';
import { svg } from './svg.mjs';

const about = { machine: 'two cores, load before the run 1.00', date: '2026-01-02T03:04:05Z', mode: 'quick' };

describe('chart of a run', () => {
  const rows = [
    { name: 'direct', rate16OfDirect: 1 },
    { name: 'slow', rate16OfDirect: 0.05 },
    { name: 'trunkline', rate16OfDirect: 0.4 },
    { name: 'failed', rate16OfDirect: undefined },
  ];
  const picture = chart({ ...about, tables: [{ id: 'stdio', rows }] });

  test('chart: draws a bar per measured subject, best first, without the baseline', () => {
    const names = [...picture.matchAll(/text-anchor="end"[^>]*>([^<]+)</g)].map(([, name]) => name);
    expect(names).toEqual(['trunkline', 'slow']);
    const widths = [...picture.matchAll(/height="13"/g)];
    expect(widths).toHaveLength(2);
    const [own, slow] = [...picture.matchAll(/<rect class="(?:own|bar)"[^>]* width="([\d.]+)"/g)].map(
      ([, width]) => Number(width),
    );
    expect(slow / own).toBeCloseTo(0.05 / 0.4, 2);
  });

  test('chart: names machine, command and date, and supports dark mode', () => {
    expect(picture).toContain('>two cores<');
    expect(picture).toContain('npm run bench -- --quick on 2026-01-02');
    expect(picture).toContain('@media (prefers-color-scheme: dark)');
  });

  test('chart: is undefined without measurements to show', () => {
    expect(chart({ ...about, tables: [] })).toBeUndefined();
  });
});

test('chart: escapes text', () => {
  const panels = [{ title: '<b>', hint: 'a & b', rows: [{ name: '"x"', value: 0, text: '0' }] }];
  const picture = svg({ title: 't', subtitle: 's', panels, note: 'n' });
  expect(picture).not.toContain('<b>');
  expect(picture).toContain('a &#38; b');
  expect(picture).not.toContain('NaN');
});
