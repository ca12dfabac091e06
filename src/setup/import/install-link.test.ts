import { expect, test } from 'vitest';

import { isInstallLink, parseInstallLink } from './install-link.ts';

const json = '{"command":"npx","args":["-y","pkg?>>"]}';
const config = Buffer.from(json).toString('base64');

test.each([
  `cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=${config}`,
  `cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=${encodeURIComponent(config)}`,
  `https://cursor.com/en/install-mcp?name=x&config=${config}`,
  `lmstudio://add_mcp?name=x&config=${config}`,
  `vscode:mcp/install?${encodeURIComponent(`{"name":"x",${json.slice(1)}`)}`,
  `vscode-insiders:mcp/install?${encodeURIComponent(`{"name":"x",${json.slice(1)}`)}`,
  `https://insiders.vscode.dev/redirect/mcp/install?name=x&config=${encodeURIComponent(json)}`,
  `https://vscode.dev/redirect?url=${encodeURIComponent(`vscode:mcp/install?${encodeURIComponent(`{"name":"x",${json.slice(1)}`)}`)}`,
])('installation link: reads the server of %s', (link) => {
  expect(isInstallLink(link)).toBe(true);
  expect(parseInstallLink(link)).toEqual({ name: 'x', entry: JSON.parse(json) as object });
});

test.each([
  ['cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=%%%', 'JSON of a server'],
  ['cursor://anysphere.cursor-deeplink/mcp/install?name=x', 'JSON of a server'],
  ['vscode:mcp/install?%', 'encoded'],
  [`vscode:mcp/install?${encodeURIComponent('[1]')}`, 'JSON of a server'],
  [`vscode:mcp/install?${'a'.repeat(70_000)}`, 'longer'],
])('installation link: is rejected if malformed: %s', (link, reason) => {
  expect(() => parseInstallLink(link)).toThrow(reason);
});

test.each(['https://x.example/mcp', 'cursor://settings', 'vscode:extension/a.b'])(
  'installation link: %s is none',
  (text) => {
    expect(isInstallLink(text)).toBe(false);
  },
);
