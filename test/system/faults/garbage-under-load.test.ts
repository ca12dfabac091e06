import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const texts = Array.from({ length: 50 }, (_, index) => `call ${index}: naïve "€" 🚀`);
const wait = { withinMs: 25_000 };

test.each(['stdio/legacy', 'http/legacy'] as const)(
  'noisy servers: return every result of 50 parallel calls each over %s',
  async (downstream) => {
    const cell = { downstream, upstream: 'stdio/legacy' } as const;
    const line = await openTestSetup(cell, {
      garbage: ['speaks-garbage'],
      stdout: ['floods-stdout', '--bytes', '262144'],
      stderr: ['floods-stderr', '--bytes', '1048576'],
      large: ['plain'],
      good: ['plain'],
    });
    const { client } = line;
    for (const name of Object.keys(line.upstreams)) await waitForTool(client, `${name}__echo`);
    const noisy = ['garbage', 'stdout', 'stderr'].flatMap((name) =>
      texts.map((text) => client.callTool(`${name}__echo`, { text }, wait)),
    );
    const large = texts.map(() => client.callTool('large__big', { bytes: 500_000 }, wait));
    const good = texts.map((text) => client.callTool('good__echo', { text }, wait));
    expect((await Promise.all(good)).map(textOfResult)).toEqual(texts);
    expect((await Promise.all(noisy)).map(textOfResult)).toEqual([...texts, ...texts, ...texts]);
    expect(new Set((await Promise.all(large)).map((result) => textOfResult(result).length))).toEqual(
      new Set([500_000]),
    );
    for (const name of Object.keys(line.upstreams)) {
      expect(line.logs[name]?.of('started'), name).toHaveLength(1);
      expect(line.logs[name]?.of('call'), name).toHaveLength(texts.length);
    }
    expect(client.strays.all).toEqual([]);
    // The gateway must not keep the 100 MB that it has discarded.
    if (process.platform === 'linux') expect(residentMegabytes(line.gateway.pid)).toBeLessThan(500);
    await line[Symbol.asyncDispose]();
    expect(line.gateway.stderr().length, 'a flood of theirs is no flood of ours').toBeLessThan(50_000);
  },
);

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]) / 1024;
}
