import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'call timeout: fails a late call and cancels it at the server',
  { upstream: everyLeg },
  async (cell) => {
    const entries = { one: { timeouts: { call: '300ms' } } };
    await using line = await cell.open({ one: ['plain'] }, { entries });
    const { client } = line;
    const log = line.logs['one'];
    await waitForTool(client, 'one__slow');
    const late = await client.callTool('one__slow', { ms: 600_000, text: 'late' });
    expect(gatewayErrorCode(late)).toBe('CALL_TIMEOUT');
    expect(textOfResult(late)).toContain('"one" gave no answer within 0.3 s');
    const cancelled = await log?.waitFor('cancelled');
    expect(cancelled).toMatchObject({ tool: 'slow', wasRunning: true });
    // The server still works, and a call may set its own limit.
    const longer = { meta: { 'trunkline/timeoutMs': 20_000 } };
    expect(textOfResult(await client.callTool('one__echo', { text: 'next' }, longer))).toBe('next');
    expect(textOfResult(await client.callTool('one__slow', { ms: 600, text: 'in time' }, longer))).toBe(
      'in time',
    );
    expect(log?.of('cancelled')).toHaveLength(1);
  },
);

scenario('call timeout: applies to a server that has never been listed', async (cell) => {
  const entries = { one: { timeouts: { call: '300ms' } } };
  await using line = await cell.open({ one: ['never-answers'] }, { entries });
  const late = await line.client.callTool('one__anything', {});
  expect(gatewayErrorCode(late)).toBe('CALL_TIMEOUT');
});

scenario('call timeout: is extended by progress up to the maximum', { slow: true }, async (cell) => {
  const timeouts = { call: '1s', max: '4s' };
  await using line = await cell.open({ one: ['plain'] }, { config: { timeouts } });
  const { client } = line;
  await waitForTool(client, 'one__progress');
  const run = (steps: number, meta: Record<string, unknown>) =>
    client.callTool('one__progress', { steps, ms: 300 }, { meta });
  const [enough, silent, endless] = await Promise.all([
    // The call takes longer than the limit, and reports progress in shorter intervals.
    run(6, { progressToken: 'enough' }),
    run(6, {}),
    run(1000, { progressToken: 'endless' }),
  ]);
  expect(textOfResult(enough)).toBe('6 steps');
  expect(gatewayErrorCode(silent)).toBe('CALL_TIMEOUT');
  expect(gatewayErrorCode(endless)).toBe('CALL_TIMEOUT');
  const steps = client.notifications.all.filter(({ params }) => params['progressToken'] === 'endless');
  // The maximum ended the call, not the first limit.
  expect(steps.length).toBeGreaterThan(4);
});

scenario('call timeout: applies only to its own server', async (cell) => {
  const entries = { hasty: { timeouts: { call: '200ms' } } };
  await using line = await cell.open({ hasty: ['plain'], patient: ['plain'] }, { entries });
  for (const server of ['hasty', 'patient']) await waitForTool(line.client, `${server}__slow`);
  const [hasty, patient] = await Promise.all(
    ['hasty', 'patient'].map((server) => line.client.callTool(`${server}__slow`, { ms: 1000, text: server })),
  );
  expect(hasty && gatewayErrorCode(hasty)).toBe('CALL_TIMEOUT');
  expect(patient && textOfResult(patient)).toBe('patient');
});
