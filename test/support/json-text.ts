import fc from 'fast-check';

/** Generates JSON text with numbers that JavaScript cannot represent and strings that resemble JSON syntax. */
export function jsonText(options: { readonly whitespace: boolean }): fc.Arbitrary<string> {
  const space = options.whitespace ? fc.constantFrom('', '', '', ' ', '\n', '\r\n', '\t') : fc.constant('');
  const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
    value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('array'), tie('object')),
    array: fc
      .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }))
      .map(([inner, values]) => `[${inner}${values.map((parts) => parts.join('')).join(',')}]`),
    object: fc
      .tuple(space, fc.uniqueArray(fc.tuple(keyText, space, tie('value'), space), unique))
      .map(([inner, members]) => {
        const texts = members.map(
          ([key, before, member, after]) => `${key}${before}:${before}${member}${after}`,
        );
        return `{${inner}${texts.join(',')}}`;
      }),
  }));
  return fc.tuple(space, value, space).map((parts) => parts.join(''));
}

/** Generates all notations of numbers, including those that parsers are known to get wrong. */
export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '-0.0',
    '0e5',
    '1.0',
    '1e2',
    '1E+2',
    '1e400',
    '-1e400',
    '1e-400',
    '5e-324',
    '2.5e-324',
    '1.23456789012345e-320',
    '0.1000000000000000055',
    '0.1',
    '9223372036854775807',
    '18446744073709551615',
    '100000000000000000000',
    '1e21',
    '0.000001',
    '0.0000001',
    '123456789012345.6',
    '1234567890123456',
  ),
  fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,24})?([eE][+-]?\d{1,3})?$/),
  fc.integer().map(String),
);

const marks = [
  '\uE000exact:5',
  '\uE000exact:1e400',
  '\uE000',
  '\uE000\uE000exact:5',
  'a"\uE000exact:5',
  '\\"\uE000exact:5',
];
const string = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text)),
  fc
    .constantFrom('1', '1e400', '-0', '{', '"', '\\', 'id', '__proto__', ...marks)
    .map((text) => JSON.stringify(text)),
  fc.constantFrom(...marks).map((text) => JSON.stringify(text).replaceAll('\uE000', '\\ue000')),
  fc.constantFrom(...marks).map((text) => JSON.stringify(text).replaceAll('\uE000', '\\uE000')),
);
/** Leaves out the keys that trigger the bug below, if this version of Node has it. */
const keyText = string.filter((text) => !hasKeyBug() || !(JSON.parse(text) as string).includes('\\'));
const scalar = fc.oneof(numberText, string, fc.constantFrom('null', 'true', 'false'));
const unique = {
  maxLength: 4,
  selector: ([key]: readonly [string, ...string[]]) => JSON.parse(key) as string,
};

/**
 * Whether JSON.parse can mistake an escaped key for an earlier key with a backslash, as V8 does in Node 24 and 26
 * (https://github.com/nodejs/node/issues/63785). The first key of the probe keeps other objects out of it.
 */
function hasKeyBug(): boolean {
  JSON.parse('{"key bug":0,"\\\\":0}');
  return !Object.hasOwn(JSON.parse('{"key bug":0,"\\"":0}') as object, '"');
}

/** Parses JSON without losing digits or members: numbers become objects that are equal if the numbers are. */
export function readExactly(text: string): unknown {
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g)].map(([token]) => token);
  let at = 0;
  const read = (): unknown => {
    const token = tokens[at++] ?? '';
    if (token === '[') return members(']', read);
    if (token === '{') return mapOf(members('}', readMember));
    if (token.startsWith('"')) return JSON.parse(token);
    const words: Readonly<Record<string, unknown>> = { null: null, true: true, false: false };
    return token in words ? words[token] : { number: exactNumber(token) };
  };
  const readMember = (): [string, unknown] => {
    const key = read() as string;
    at++;
    return [key, read()];
  };
  const members = <T>(end: string, one: () => T): T[] => {
    const found: T[] = [];
    if (tokens[at] === end) at++;
    else {
      do found.push(one());
      while (tokens[at++] === ',');
    }
    return found;
  };
  const value = read();
  if (at !== tokens.length) throw new Error(`More than one value: ${text}`);
  return value;
}

function mapOf(members: readonly (readonly [string, unknown])[]): ReadonlyMap<string, unknown> {
  const map = new Map(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  if (map.size !== members.length) throw new Error('A member comes twice.');
  return map;
}

/** Returns equal texts for two literals exactly if they are the same number with the same sign. */
function exactNumber(literal: string): string {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (parts === null) throw new Error(`Not a number: ${literal}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
