// Encodes text, so the sets stay readable: `{{b64:some text}}` stands for the text in that encoding.

const ALIKE = { a: 'а', c: 'с', e: 'е', i: 'і', o: 'о', p: 'р', s: 'ѕ', x: 'х', y: 'у' };
const DIGITS = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' };

const DISGUISES = {
  b64: (text) => Buffer.from(text).toString('base64'),
  hex: (text) => Buffer.from(text).toString('hex'),
  bin: (text) => [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join(' '),
  dec: (text) => [...Buffer.from(text)].join(' '),
  rot13: (text) =>
    text.replaceAll(/[a-z]/gi, (letter) => {
      const first = letter < 'a' ? 65 : 97;
      return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
    }),
  rev: (text) => [...text].toReversed().join(''),
  leet: (text) => text.replaceAll(/[aeiost]/g, (letter) => DIGITS[letter]),
  homo: (text) => text.replaceAll(/[aceiopsxy]/g, (letter) => ALIKE[letter]),
  spaced: (text) => [...text].join(' '),
  dotted: (text) => text.replaceAll(/\w+/g, (word) => [...word].join('.')),
  tag: (text) => [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(''),
  vs: (text) => `😀${[...Buffer.from(text)].map((byte) => String.fromCodePoint(0xe0100 + byte)).join('')}`,
  zw: (text) => text.replaceAll(/\B/g, '\u200B'),
  bidi: (text) => `\u202E${[...text].toReversed().join('')}\u202C`,
  ansi: (text) => `\u001B[8m${text}\u001B[0m`,
  gap: (text) => `${'\n'.repeat(60)}${text}`,
  url: (text) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  ent: (text) => [...text].map((letter) => `&#${letter.charCodeAt(0)};`).join(''),
  esc: (text) =>
    [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  wide: (text) => text.replaceAll(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
  math: (text) =>
    text.replaceAll(/[A-Za-z]/g, (letter) => {
      const isSmall = letter >= 'a';
      return String.fromCodePoint((isSmall ? 0x1d41a : 0x1d400) + letter.charCodeAt(0) - (isSmall ? 97 : 65));
    }),
};

export function disguised(text) {
  return text.replaceAll(/\{\{([a-z0-9]+):([^}]*)\}\}/g, (whole, name, inside) =>
    name in DISGUISES ? DISGUISES[name](inside) : whole,
  );
}
