import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { GatewayError } from '../model/errors.ts';
import { loadConfig } from './load.ts';
import { createStarterConfig, findConfig, locations, stateDirOf } from './paths.ts';

describe('locations', () => {
  test('follow XDG on Linux', () => {
    const linux = { platform: 'linux', home: '/home/ada' } as const;
    expect(locations({ ...linux, env: {} })).toEqual({
      configFile: '/home/ada/.config/trunkline/config.jsonc',
      stateDir: '/home/ada/.local/state/trunkline',
    });
    expect(locations({ ...linux, env: { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' } })).toEqual({
      configFile: '/c/trunkline/config.jsonc',
      stateDir: '/s/trunkline',
    });
    expect(locations({ ...linux, env: { XDG_CONFIG_HOME: 'relative', XDG_STATE_HOME: '' } })).toEqual(
      locations({ ...linux, env: {} }),
    );
  });

  test('are the usual ones on macOS', () => {
    expect(locations({ env: { XDG_CONFIG_HOME: '/c' }, platform: 'darwin', home: '/Users/ada' })).toEqual({
      configFile: '/Users/ada/Library/Application Support/trunkline/config.jsonc',
      stateDir: '/Users/ada/Library/Application Support/trunkline/state',
    });
  });

  test('are the usual ones on Windows', () => {
    const windows = { platform: 'win32', home: String.raw`C:\Users\ada` } as const;
    expect(locations({ ...windows, env: { APPDATA: String.raw`D:\Roaming` } })).toEqual({
      configFile: String.raw`D:\Roaming\trunkline\config.jsonc`,
      stateDir: String.raw`C:\Users\ada\AppData\Local\trunkline\state`,
    });
  });

  test('move as a whole with TRUNKLINE_HOME', () => {
    const env = { TRUNKLINE_HOME: '/elsewhere', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' };
    for (const platform of ['linux', 'darwin'] as const) {
      expect(locations({ env, platform, home: '/home/ada' })).toEqual({
        configFile: '/elsewhere/config.jsonc',
        stateDir: '/elsewhere/state',
      });
    }
    expect(locations({ env: { TRUNKLINE_HOME: '~/t' }, platform: 'linux', home: '/home/ada' }).stateDir).toBe(
      '/home/ada/t/state',
    );
  });

  test('do not depend on the current folder', () => {
    expect(() => locations({ env: { TRUNKLINE_HOME: 'x' }, platform: 'linux', home: '/h' })).toThrow(
      'TRUNKLINE_HOME must be an absolute path',
    );
  });
});

describe('on disk', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-paths-'));
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

  test('the flag wins over the environment, that over the project, that over the user', async () => {
    const project = join(folder, 'trunkline.jsonc');
    expect(await find()).toEqual({ file: '/user/config.jsonc', from: 'user' });
    await writeFile(project, '{}');
    expect(await find()).toEqual({ file: project, from: 'project' });
    const env = { TRUNKLINE_CONFIG: 'other.jsonc' };
    expect(await find({ env })).toEqual({ file: join(folder, 'other.jsonc'), from: 'environment' });
    expect(await find({ env, flag: '/a.jsonc' })).toEqual({ file: '/a.jsonc', from: 'flag' });
    expect(await find({ env: { TRUNKLINE_CONFIG: '' } })).toMatchObject({ from: 'project' });
  });

  test('a project file that is not trusted is named with the command that trusts it, and not used', async () => {
    const project = join(folder, 'trunkline.jsonc');
    await writeFile(project, '{}');
    const asked: string[] = [];
    const isTrusted = (file: string): Promise<boolean> => {
      asked.push(file);
      return Promise.resolve(false);
    };
    const error = await find({ isTrusted }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GatewayError);
    const { code, message, details } = error as GatewayError;
    expect(code).toBe('CONFIG_UNTRUSTED');
    expect(message).toContain(`trunkline trust ${project}`);
    expect(details).toMatchObject({ file: project });
    expect(asked).toEqual([project]);
    expect(await find({ isTrusted, flag: 'trunkline.jsonc' })).toEqual({ file: project, from: 'flag' });
  });

  test('the first configuration is private, loads and is never written over', async () => {
    const file = join(folder, 'a', 'b', 'config.jsonc');
    expect(await createStarterConfig(file)).toBe(true);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'a', 'b'))).mode & 0o777).toBe(0o700);
    const snapshot = await loadConfig({ file, version: '1' });
    expect(snapshot.warnings).toEqual([]);
    expect(snapshot.value.upstreams).toEqual([]);
    await writeFile(file, 'mine');
    expect(await createStarterConfig(file)).toBe(false);
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect(await readdir(join(folder, 'a', 'b'))).toEqual(['config.jsonc']);
  });

  test('the examples in the first configuration work once their comments are removed', async () => {
    const file = join(folder, 'config.jsonc');
    await createStarterConfig(file);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll(/^ {4}\/\/ ( *["}].*)$/gm, '    $1'));
    const snapshot = await loadConfig({ file, version: '1' });
    expect(snapshot.warnings).toEqual([]);
    expect(snapshot.value.upstreams.map(({ name }) => name)).toEqual(['files', 'example']);
  });

  test('of many that create the first configuration at once, one does', async () => {
    const file = join(folder, 'config.jsonc');
    const created = await Promise.all(Array.from({ length: 8 }, () => createStarterConfig(file)));
    expect(created.filter(Boolean)).toHaveLength(1);
    expect(await readdir(folder)).toEqual(['config.jsonc']);
  });
});

test("a configuration that is not the user's own has a state of its own", () => {
  const places = { configFile: '/home/me/.config/trunkline/config.jsonc', stateDir: '/home/me/.state' };
  expect(stateDirOf(places.configFile, places)).toBe(places.stateDir);
  const one = stateDirOf('/src/one/trunkline.jsonc', places);
  const other = stateDirOf('/src/other/trunkline.jsonc', places);
  expect(one).not.toBe(other);
  expect(one.startsWith(`${places.stateDir}/configs/`)).toBe(true);
});
