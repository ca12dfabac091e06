import { describe, expect, test } from 'vitest';

import { styleOf } from './style.ts';

const terminal = { isTTY: true, columns: 100 };
const pipe = {};

describe('format', () => {
  test.each([
    { argv: ['tools'], stdout: terminal, is: 'text' },
    { argv: ['tools'], stdout: pipe, is: 'json' },
    { argv: ['tools', '--json'], stdout: terminal, is: 'json' },
    { argv: ['--text', 'tools'], stdout: pipe, is: 'text' },
    { argv: ['tools', '--', 'server', '--json'], stdout: terminal, is: 'text' },
  ])('$argv on $stdout is $is', ({ argv, stdout, is }) => {
    expect(styleOf(argv, { env: {}, stdout, stderr: pipe }).format).toBe(is);
  });

  test('problems are JSON only where that was asked for', () => {
    expect(styleOf(['x'], { env: {}, stdout: pipe, stderr: pipe }).isJsonAsked).toBe(false);
    expect(styleOf(['x', '--json'], { env: {}, stdout: pipe, stderr: pipe }).isJsonAsked).toBe(true);
  });

  test('the width is that of the terminal, and none in a pipe', () => {
    expect(styleOf([], { env: {}, stdout: terminal, stderr: pipe }).width).toBe(100);
    expect(styleOf([], { env: {}, stdout: { isTTY: true, columns: 0 }, stderr: pipe }).width).toBe(20);
    expect(styleOf([], { env: {}, stdout: pipe, stderr: pipe }).width).toBe(Infinity);
  });
});

describe('colour', () => {
  test.each([
    { argv: [], env: {}, stdout: terminal, is: true },
    { argv: [], env: {}, stdout: pipe, is: false },
    { argv: [], env: { TERM: 'dumb' }, stdout: terminal, is: false },
    { argv: [], env: { NO_COLOR: '1' }, stdout: terminal, is: false },
    { argv: [], env: { NO_COLOR: '' }, stdout: terminal, is: true },
    { argv: [], env: { FORCE_COLOR: '1' }, stdout: pipe, is: true },
    { argv: [], env: { FORCE_COLOR: '0' }, stdout: terminal, is: false },
    { argv: [], env: { FORCE_COLOR: '1', NO_COLOR: '1' }, stdout: terminal, is: false },
    { argv: ['--color', 'always'], env: { NO_COLOR: '1' }, stdout: pipe, is: true },
    { argv: ['--color=never'], env: { FORCE_COLOR: '1' }, stdout: terminal, is: false },
    { argv: ['--color', 'auto'], env: { TRUNKLINE_COLOR: 'never' }, stdout: terminal, is: true },
    { argv: [], env: { TRUNKLINE_COLOR: 'never' }, stdout: terminal, is: false },
  ])('$argv with $env on $stdout is $is', ({ argv, env, stdout, is }) => {
    expect(styleOf(argv, { env, stdout, stderr: pipe }).isOutColoured).toBe(is);
  });

  test('is decided for each stream by itself', () => {
    const style = styleOf([], { env: {}, stdout: pipe, stderr: terminal });
    expect(style).toMatchObject({ isOutColoured: false, isErrColoured: true });
  });
});

describe('progress', () => {
  test.each([
    { argv: [], env: {}, stderr: terminal, is: 'drawn' },
    { argv: [], env: {}, stderr: pipe, is: 'none' },
    { argv: [], env: { TERM: 'dumb' }, stderr: terminal, is: 'lines' },
    { argv: ['--progress', 'lines'], env: {}, stderr: terminal, is: 'lines' },
    { argv: ['--progress=lines'], env: {}, stderr: pipe, is: 'lines' },
    { argv: [], env: { TRUNKLINE_PROGRESS: 'none' }, stderr: terminal, is: 'none' },
    { argv: ['--progress', 'auto'], env: { TRUNKLINE_PROGRESS: 'none' }, stderr: terminal, is: 'drawn' },
  ])('$argv with $env on $stderr is $is', ({ argv, env, stderr, is }) => {
    expect(styleOf(argv, { env, stdout: pipe, stderr }).progress).toBe(is);
  });
});
