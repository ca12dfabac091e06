import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { setMember } from './set-member.ts';

const commented = `// mine
{
  "mcpServers": {
    "a": { "command": "x" }, // about a
    /* about b */
    "b": {
      "url": "https://b.example/mcp" // its address
    } // about the last
  },
  // the end
  "log": { "level": "info" }
}
`;

describe('adding a member', () => {
  test('add member: inserts it after the last one and its comment', () => {
    expect(setMember(commented, ['mcpServers', 'c'], { command: 'y', args: ['-v', 'z'] })).toBe(
      commented.replace(
        `    } // about the last\n`,
        `    }, // about the last\n    "c": {\n      "command": "y",\n      "args": ["-v", "z"]\n    }\n`,
      ),
    );
  });

  test.each([
    { text: '{}', is: '{"a": 1}' },
    { text: '{"b":2}', is: '{"b":2, "a": 1}' },
    { text: '{ "b": 2 }', is: '{ "b": 2, "a": 1 }' },
    { text: '{ "b": 2, }', is: '{ "b": 2, "a": 1 }' },
    { text: '{\n}\n', is: '{\n  "a": 1\n}\n' },
    { text: '{\n  // nothing yet\n}\n', is: '{\n  // nothing yet\n  "a": 1\n}\n' },
    { text: '{\n  "b": 2\n}\n', is: '{\n  "b": 2,\n  "a": 1\n}\n' },
    { text: '{\r\n\t"b": 2,\r\n}\r\n', is: '{\r\n\t"b": 2,\r\n\t"a": 1,\r\n}\r\n' },
    { text: '{ "b": 2,\n  "c": 3 }', is: '{ "b": 2,\n  "c": 3,\n"a": 1\n}' },
    { text: '{\n  "b": 2 /* x */ , // y\n}', is: '{\n  "b": 2 /* x */ , // y\n  "a": 1,\n}' },
  ])('add member: inserts it into $text', ({ text, is }) => {
    expect(setMember(text, ['a'], 1)).toBe(is);
  });

  test('add member: creates the missing parent objects', () => {
    expect(setMember('{\n    "b": 2\n}', ['a', 'c', 'd'], true)).toBe(
      '{\n    "b": 2,\n    "a": {\n        "c": { "d": true }\n    }\n}',
    );
  });
});

describe('replacing a member', () => {
  test('replace member: leaves everything around it unchanged', () => {
    expect(setMember(commented, ['mcpServers', 'b', 'url'], 'https://c.example/mcp')).toBe(
      commented.replace('https://b.', 'https://c.'),
    );
    expect(setMember(commented, ['log'], 1)).toBe(commented.replace('{ "level": "info" }', '1'));
  });

  test('replace member: changes the last of duplicate keys', () => {
    expect(setMember('{"a":1,"a":2}', ['a'], 3)).toBe('{"a":1,"a":3}');
  });
});

describe('removing a member', () => {
  test.each([
    { text: '{"a":1}', is: '{}' },
    { text: '{ "a": 1 }', is: '{ }' },
    { text: '{"a":1,"b":2}', is: '{"b":2}' },
    { text: '{"b":2,"a":1}', is: '{"b":2}' },
    { text: '{ "b": 2, "a": 1, "c": 3 }', is: '{ "b": 2, "c": 3 }' },
    { text: '{\n  "a": 1,\n  "b": 2\n}', is: '{\n  "b": 2\n}' },
    { text: '{\n  "b": 2, // kept\n  "a": {\n    "x": 1\n  }\n}', is: '{\n  "b": 2 // kept\n}' },
    { text: '{\n  "a": 1, // kept\n  "b": 2\n}', is: '{\n  // kept\n  "b": 2\n}' },
    { text: '{"b":2}', is: '{"b":2}' },
  ])('remove member: removes it from $text', ({ text, is }) => {
    expect(setMember(text, ['a'], undefined)).toBe(is);
  });
});

test('edited member: reads back as set, and all others are unchanged, for any document', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd"e', '__proto__x');
  const document = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }));
  fc.assert(
    fc.property(
      document,
      key,
      fc.option(fc.jsonValue()),
      fc.constantFrom(0, 2, '\t'),
      (before, name, value, indent) => {
        const text = JSON.stringify(before, null, indent);
        const { [name]: _, ...others } = before;
        const after = value === null ? others : { ...before, [name]: value };
        const read: unknown = JSON.parse(setMember(text, [name], value ?? undefined));
        expect(read).toEqual(JSON.parse(JSON.stringify(after)));
      },
    ),
  );
});
