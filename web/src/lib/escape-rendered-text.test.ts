import { Fragment, h } from 'preact';
import { beforeAll, expect, test } from 'vitest';

import { escapeRenderedText } from './escape-rendered-text.ts';

beforeAll(escapeRenderedText);

test('rendered text: invisible characters in any text of an element are shown as code points', () => {
  expect(h('p', null, 'a\u202Eb').props).toEqual({ children: String.raw`a\u{202e}b` });
  const { children } = h('p', null, 'x', ['\u0000', 7, [null, '\u200B']]).props;
  expect(children).toEqual(['x', [String.raw`\u{0}`, 7, [null, String.raw`\u{200b}`]]]);
});

test('rendered text: invisible characters in the text of a fragment are shown as code points', () => {
  expect(h(Fragment, null, '\u202Ea', ' · ').props.children).toEqual([String.raw`\u{202e}a`, ' · ']);
});

test('rendered text: invisible characters in attributes that people read are shown as code points', () => {
  const attributes = { title: '\u202Ea', 'aria-label': '\u202Eb', placeholder: '\u202Ec', alt: '\u202Ed' };
  expect(h('img', attributes).props).toEqual({
    title: String.raw`\u{202e}a`,
    'aria-label': String.raw`\u{202e}b`,
    placeholder: String.raw`\u{202e}c`,
    alt: String.raw`\u{202e}d`,
  });
});

test('rendered text: values and the properties of components stay as they are', () => {
  const Component = () => null;
  expect(h('input', { value: '\u202E' }).props).toEqual({ value: '\u202E' });
  expect(h(Component as never, { title: '\u202E' } as never).props).toEqual({ title: '\u202E' });
  expect(h(Fragment, null, h('b', null, 'plain')).props.children).toMatchObject({
    props: { children: 'plain' },
  });
});
