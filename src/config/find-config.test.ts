import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { GatewayError } from '../core/errors.ts';
import { findConfig, resolveLocations, resolveStateDir } from './find-config.ts';

describe('default locations', () => {
  test('locations: follow XDG on Linux', () => {
    const linux = { platform: 'linux', home: '/home/ada' } as const;
    expect(resolveLocations({ ...linux, env: {} })).toEqual({
      configFile: '/home/ada/.config/trunkline/config.jsonc',
      stateDir: '/home/ada/.local/state/trunkline',
    });
    expect(resolveLocations({ ...linux, env: { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' } })).toEqual({
      configFile: '/c/trunkline/config.jsonc',
      stateDir: '/s/trunkline',
    });
    expect(resolveLocations({ ...linux, env: { XDG_CONFIG_HOME: 'relative', XDG_STATE_HOME: '' } })).toEqual(
      resolveLocations({ ...linux, env: {} }),
    );
  });

  test('locations: use Application Support on macOS', () => {
    expect(
      resolveLocations({ env: { XDG_CONFIG_HOME: '/c' }, platform: 'darwin', home: '/Users/ada' }),
    ).toEqual({
      configFile: '/Users/ada/Library/Application Support/trunkline/config.jsonc',
      stateDir: '/Users/ada/Library/Application Support/trunkline/state',
    });
  });

  test('locations: use AppData on Windows', () => {
    const windows = { platform: 'win32', home: String.raw`C:\Users\ada` } as const;
    expect(resolveLocations({ ...windows, env: { APPDATA: String.raw`D:\Roaming` } })).toEqual({
      configFile: String.raw`D:\Roaming\trunkline\config.jsonc`,
      stateDir: String.raw`C:\Users\ada\AppData\Local\trunkline\state`,
    });
  });

  test('locations: follow TRUNKLINE_HOME as a whole', () => {
    const env = { TRUNKLINE_HOME: '/elsewhere', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' };
    for (const platform of ['linux', 'darwin'] as const) {
      expect(resolveLocations({ env, platform, home: '/home/ada' })).toEqual({
        configFile: '/elsewhere/config.jsonc',
        stateDir: '/elsewhere/state',
      });
    }
    expect(
      resolveLocations({ env: { TRUNKLINE_HOME: '~/t' }, platform: 'linux', home: '/home/ada' }).stateDir,
    ).toBe('/home/ada/t/state');
  });

  test('locations: reject a relative TRUNKLINE_HOME', () => {
    expect(() => resolveLocations({ env: { TRUNKLINE_HOME: 'x' }, platform: 'linux', home: '/h' })).toThrow(
      'TRUNKLINE_HOME must be an absolute path',
    );
  });
});

describe('config lookup', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-find-config-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const find = (options: Partial<Parameters<typeof findConfig>[0]> = {}) =>
    findConfig({
      flag: undefined,
      env: {},
      cwd: folder,
      locations: { configFile: '/user/config.jsonc', stateDir: '/state' },
      isTrusted: () => Promise.resolve(true),
      ...options,
    });

  test('config lookup: prefers the flag, then the environment, then the project, then the user', async () => {
    const project = join(folder, 'trunkline.jsonc');
    expect(await find()).toEqual({ file: '/user/config.jsonc', from: 'user' });
    await writeFile(project, '{}');
    expect(await find()).toEqual({ file: project, from: 'project' });
    const env = { TRUNKLINE_CONFIG: 'other.jsonc' };
    expect(await find({ env })).toEqual({ file: join(folder, 'other.jsonc'), from: 'environment' });
    expect(await find({ env, flag: '/a.jsonc' })).toEqual({ file: '/a.jsonc', from: 'flag' });
    expect(await find({ env: { TRUNKLINE_CONFIG: '' } })).toMatchObject({ from: 'project' });
  });

  test('config lookup: rejects an untrusted project file and names the command that trusts it', async () => {
    const project = join(folder, 'trunkline.jsonc');
    await writeFile(project, '{}');
    const checkedFiles: string[] = [];
    const isTrusted = (file: string): Promise<boolean> => {
      checkedFiles.push(file);
      return Promise.resolve(false);
    };
    const error = await find({ isTrusted }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GatewayError);
    const { code, message, details } = error as GatewayError;
    expect(code).toBe('CONFIG_UNTRUSTED');
    expect(message).toContain(`trunkline trust ${project}`);
    expect(details).toMatchObject({ file: project });
    expect(checkedFiles).toEqual([project]);
    expect(await find({ isTrusted, flag: 'trunkline.jsonc' })).toEqual({ file: project, from: 'flag' });
  });
});

test("state folder: is separate for each config other than the user's own", () => {
  const locations = { configFile: '/home/me/.config/trunkline/config.jsonc', stateDir: '/home/me/.state' };
  expect(resolveStateDir(locations.configFile, locations)).toBe(locations.stateDir);
  const one = resolveStateDir('/src/one/trunkline.jsonc', locations);
  const other = resolveStateDir('/src/other/trunkline.jsonc', locations);
  expect(one).not.toBe(other);
  expect(one.startsWith(`${locations.stateDir}/configs/`)).toBe(true);
});
