import { expect } from 'vitest';

import { ownCode, said, untilListed } from '../../support/asking.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { verifies } from '../verifies.ts';

checkLeaks();

verifies('timeouts:call', async (cell) => {
  const entries = { one: { timeouts: { call: '300ms' } } };
  await using line = await cell.open({ one: ['plain'] }, { entries });
  const { client } = line;
  const log = line.logs['one'];
  await untilListed(client, 'one__slow');
  const late = await client.callTool('one__slow', { ms: 600_000, text: 'late' });
  expect(ownCode(late)).toBe('CALL_TIMEOUT');
  expect(said(late)).toContain('"one" gave no answer within 0.3 s');
  const cancelled = await log?.waitFor('cancelled');
  expect(cancelled).toMatchObject({ tool: 'slow', wasRunning: true });
  // The server is as good as before, and a call may have a limit of its own.
  const longer = { meta: { 'trunkline/timeoutMs': 20_000 } };
  expect(said(await client.callTool('one__echo', { text: 'next' }, longer))).toBe('next');
  expect(said(await client.callTool('one__slow', { ms: 600, text: 'in time' }, longer))).toBe('in time');
  expect(log?.of('cancelled')).toHaveLength(1);
});

verifies('timeouts:unlisted', async (cell) => {
  const entries = { one: { timeouts: { call: '300ms' } } };
  await using line = await cell.open({ one: ['never-answers'] }, { entries });
  const late = await line.client.callTool('one__anything', {});
  expect(ownCode(late)).toBe('CALL_TIMEOUT');
});

verifies('timeouts:progress', async (cell) => {
  const timeouts = { call: '1s', max: '4s' };
  await using line = await cell.open({ one: ['plain'] }, { config: { timeouts } });
  const { client } = line;
  await untilListed(client, 'one__progress');
  const run = (steps: number, meta: Record<string, unknown>) =>
    client.callTool('one__progress', { steps, ms: 300 }, { meta });
  const [enough, silent, endless] = await Promise.all([
    // Longer than the limit, in steps that are shorter.
    run(6, { progressToken: 'enough' }),
    run(6, {}),
    run(1000, { progressToken: 'endless' }),
  ]);
  expect(said(enough)).toBe('6 steps');
  expect(ownCode(silent)).toBe('CALL_TIMEOUT');
  expect(ownCode(endless)).toBe('CALL_TIMEOUT');
  const steps = client.notifications.all.filter(({ params }) => params['progressToken'] === 'endless');
  // It was not the first limit that ended it.
  expect(steps.length).toBeGreaterThan(4);
});

verifies('timeouts:per-server', async (cell) => {
  const entries = { hasty: { timeouts: { call: '200ms' } } };
  await using line = await cell.open({ hasty: ['plain'], patient: ['plain'] }, { entries });
  for (const server of ['hasty', 'patient']) await untilListed(line.client, `${server}__slow`);
  const [hasty, patient] = await Promise.all(
    ['hasty', 'patient'].map((server) => line.client.callTool(`${server}__slow`, { ms: 1000, text: server })),
  );
  expect(hasty && ownCode(hasty)).toBe('CALL_TIMEOUT');
  expect(patient && said(patient)).toBe('patient');
});
