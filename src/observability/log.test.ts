import { expect, test } from 'vitest';

import { createJsonLogger } from './log.ts';

test('log: masks known formats of secrets in messages and fields, also nested, and stays valid JSON', () => {
  const lines: string[] = [];
  const log = createJsonLogger({
    level: 'info',
    write: (line) => void lines.push(line),
    now: () => new Date(0),
    fields: { caller: `tla_${'Planted'.repeat(8).slice(0, 55)}` },
  });
  const adminKey = `tladmin_${'Planted'.repeat(7).slice(0, 43)}`;
  log.warn('A call failed.', {
    error: `tl_${'Planted'.repeat(8).slice(0, 55)} is invalid`,
    nested: [{ key: adminKey, pem: '-----BEGIN PRIVATE KEY-----\nPlanted' }],
  });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      time: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      message: 'A call failed.',
      caller: '[redacted]',
      error: '[redacted] is invalid',
      nested: [{ key: '[redacted]', pem: '[redacted]' }],
    },
  ]);
});
