import { describe, expect, test } from 'vitest';

import { detectStyle } from './output-style.ts';

const terminal = { isTTY: true, columns: 100 };
const pipe = {};

describe('output format', () => {
  test.each([
    { argv: ['tools'], stdout: terminal, is: 'text' },
    { argv: ['tools'], stdout: pipe, is: 'text' },
    { argv: ['tools', '--json'], stdout: terminal, is: 'json' },
    { argv: ['--text', 'tools'], stdout: pipe, is: 'text' },
    { argv: ['tools', '--', 'server', '--json'], stdout: terminal, is: 'text' },
  ])('output format: is $is for $argv on $stdout', ({ argv, stdout, is }) => {
    expect(detectStyle(argv, { env: {}, stdout, stderr: pipe }).format).toBe(is);
  });

  test.each([
    { argv: ['tools'], stdout: pipe, is: 'json' },
    { argv: ['tools', '--text'], stdout: pipe, is: 'text' },
    { argv: ['tools'], stdout: terminal, is: 'text' },
  ])('output format: is $is for $argv on $stdout with TRUNKLINE_OUTPUT=json', ({ argv, stdout, is }) => {
    const env = { TRUNKLINE_OUTPUT: 'json' };
    const style = detectStyle(argv, { env, stdout, stderr: pipe });
    expect(style).toMatchObject({ format: is, isJsonRequested: false });
  });

  test('output format: prints problems as JSON only with --json', () => {
    expect(detectStyle(['x'], { env: {}, stdout: pipe, stderr: pipe }).isJsonRequested).toBe(false);
    expect(detectStyle(['x', '--json'], { env: {}, stdout: pipe, stderr: pipe }).isJsonRequested).toBe(true);
  });

  test('output width: follows the terminal and is unlimited in a pipe', () => {
    expect(detectStyle([], { env: {}, stdout: terminal, stderr: pipe }).width).toBe(100);
    expect(detectStyle([], { env: {}, stdout: { isTTY: true, columns: 0 }, stderr: pipe }).width).toBe(20);
    expect(detectStyle([], { env: {}, stdout: pipe, stderr: pipe }).width).toBe(Infinity);
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
  ])('colour: is $is for $argv with $env on $stdout', ({ argv, env, stdout, is }) => {
    expect(detectStyle(argv, { env, stdout, stderr: pipe }).isOutColoured).toBe(is);
  });

  test('colour: is decided per stream', () => {
    const style = detectStyle([], { env: {}, stdout: pipe, stderr: terminal });
    expect(style).toMatchObject({ isOutColoured: false, isErrColoured: true });
  });
});

describe('progress display', () => {
  test.each([
    { argv: [], env: {}, stderr: terminal, is: 'drawn' },
    { argv: [], env: {}, stderr: pipe, is: 'none' },
    { argv: [], env: { TERM: 'dumb' }, stderr: terminal, is: 'lines' },
    { argv: ['--progress', 'lines'], env: {}, stderr: terminal, is: 'lines' },
    { argv: ['--progress=lines'], env: {}, stderr: pipe, is: 'lines' },
    { argv: [], env: { TRUNKLINE_PROGRESS: 'none' }, stderr: terminal, is: 'none' },
    { argv: ['--progress', 'auto'], env: { TRUNKLINE_PROGRESS: 'none' }, stderr: terminal, is: 'drawn' },
  ])('progress display: is $is for $argv with $env on $stderr', ({ argv, env, stderr, is }) => {
    expect(detectStyle(argv, { env, stdout: pipe, stderr }).progress).toBe(is);
  });
});
