import { expect, test } from 'vitest';

import type { CatalogView } from '../gateway/catalog-view.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import { Payload } from '../core/lib/payload.ts';
import type { Exposure, ExposureContext } from './exposure.ts';
import { ALWAYS_LOADED } from './meta-tools.ts';
import { withGatewayTools } from './gateway-tools.ts';
import type { GatewayTool } from './gateway-tools.ts';

const called: string[] = [];
const answer = (by: string): Promise<Payload> => {
  called.push(by);
  return Promise.resolve(Payload.of({ by }));
};
const inner: Exposure = {
  kind: 'direct',
  dependsOnListings: true,
  instructions: () => 'words',
  tools: () => [{ name: 'a' }, { name: 'own' }],
  digest: () => 'd',
  callTool: (name) => answer(`inner ${name}`),
};
const own: GatewayTool = { definition: { name: 'own', title: 'Ours' }, call: () => answer('own') };
const view = {} as CatalogView; // The exposure does not read the view.

test('gateway tools: come first, take precedence over others of the same name and can be switched off', async () => {
  let offered: readonly GatewayTool[] = [];
  const choice = withGatewayTools(
    () => inner,
    () => offered,
  );
  const exposure = choice(view);
  expect(choice(view)).toBe(exposure);
  expect(exposure.tools(view)).toEqual([{ name: 'a' }, { name: 'own' }]);
  expect(exposure.digest(view)).toBe('d');
  offered = [own];
  expect(exposure.tools(view)).toEqual([{ name: 'own', title: 'Ours', _meta: ALWAYS_LOADED }, { name: 'a' }]);
  expect(exposure.digest(view)).not.toBe('d');
  const request = { params: {}, session: 's', cancellation: new Cancellation() };
  const context = { caller: { id: 'x', via: 'stdio', profile: 'default' } } as ExposureContext; // Only the caller is read.
  await exposure.callTool('own', request, context);
  await exposure.callTool('a', request, context);
  offered = [];
  await exposure.callTool('own', request, context);
  expect(called).toEqual(['own', 'inner a', 'inner own']);
});
