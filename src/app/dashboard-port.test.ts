import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { temporaryFolder } from '../../test/support/test-run.ts';
import { chooseDashboardPort, hasDashboardPort, saveDashboardPort } from './dashboard-port.ts';

test('dashboard port: is derived from the state folder, and the first one that was used stays', async () => {
  const stateDir = temporaryFolder('dashboard-port');
  const derived = chooseDashboardPort(stateDir);
  expect(derived).toBe(chooseDashboardPort(stateDir));
  expect(derived).toBeGreaterThanOrEqual(20_000);
  expect(derived).toBeLessThan(30_000);
  expect(chooseDashboardPort('/home/ada')).not.toBe(chooseDashboardPort('/home/grace'));
  expect(hasDashboardPort(stateDir)).toBe(false);
  await saveDashboardPort(stateDir, '41234');
  await saveDashboardPort(stateDir, '41235');
  expect(chooseDashboardPort(stateDir)).toBe(41_234);
  for (const damaged of ['', 'x', '0', '70000', '1.5']) {
    writeFileSync(join(stateDir, 'dashboard-port'), damaged);
    expect(chooseDashboardPort(stateDir), damaged).toBe(derived);
  }
});
