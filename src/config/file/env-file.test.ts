import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseEnvFile } from './env-file.ts';

function variables(text: string): unknown {
  const parsed = parseEnvFile(text);
  return 'variables' in parsed ? parsed.variables : parsed;
}

test('env file: accepts plain, exported, quoted and empty values', () => {
  expect(variables('A=1\nexport B=two words\nC="x y"\nD=\'$x "y"\'\nE=\n F = padded \nG=""')).toEqual({
    A: '1',
    B: 'two words',
    C: 'x y',
    D: '$x "y"',
    E: '',
    F: 'padded',
    G: '',
  });
});

test('env file: ignores comments and blank lines', () => {
  expect(variables('# head\n\n  # indented\nA=1 # why\nB="x # y" # z\nC=a#b\nD=#c\n\t\n')).toEqual({
    A: '1',
    B: 'x # y',
    C: 'a#b',
    D: '#c',
  });
});

test('env file: interprets escapes only in double quotes', () => {
  expect(
    variables(String.raw`A="a\nb\t\"c\" \\ \$d \e"` + '\n' + String.raw`B='a\nb'` + '\n' + 'C=a\\nb'),
  ).toEqual({ A: 'a\nb\t"c" \\ $d \\e', B: String.raw`a\nb`, C: String.raw`a\nb` });
});

test('env file: allows quoted values to span lines', () => {
  expect(variables('KEY="one\ntwo"\nNEXT=\'three\nfour\'')).toEqual({ KEY: 'one\ntwo', NEXT: 'three\nfour' });
});

test('env file: tolerates a byte order mark and CRLF', () => {
  expect(variables('\uFEFFA=1\r\nB="2"\r\n')).toEqual({ A: '1', B: '2' });
});

test('env file: takes the last of duplicate names', () => {
  expect(variables('A=1\nA=2')).toEqual({ A: '2' });
});

test.each([
  ['A=1\nnonsense\n', 2],
  ['A="one\ntwo"\n=x', 3],
  ['A="open', 1],
  ['A= "open', 1],
  ['A="x" y', 1],
  ['2A=1', 1],
])('env file: reports the first invalid line of %j', (text, line) => {
  expect(parseEnvFile(text)).toEqual({ badLine: line });
});

test('env file: keeps any single-quoted value unchanged', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-c "#=$\\\n{}`é]*$/), (value) => {
      expect(parseEnvFile(`A='${value}'\nB=1`)).toEqual({ variables: { A: value, B: '1' } });
    }),
  );
});

test('env file: parses any text without hanging', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A ="'#\\\n\r\t$]*$/), (text) => {
      expect(parseEnvFile(text)).toBeTypeOf('object');
    }),
  );
});
