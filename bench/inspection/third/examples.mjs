// Reads the third set: `# family language` starts a group, and each line below it is one definition. SHAPES explains the letters.

import { readFileSync } from 'node:fs';

import { disguised } from './disguise.mjs';

/** Turns the fields of a line, which are separated by bars, into a definition; the key is the first letter of the line. */
const SHAPES = {
  // Pretended purpose | the rest of the description.
  D: ([opening, said = '']) => ({ description: `${opening} ${said}`.trim() }),
  // Pretended purpose | name of a parameter | its description.
  P: ([opening, name, description]) => ({ description: opening, ...parameters({ [name]: { description } }) }),
  // Pretended purpose | name of a parameter.
  N: ([opening, name]) => ({ description: opening, ...parameters({ [name]: {} }) }),
  // Pretended purpose | name of a parameter | one of its values.
  E: ([opening, name, value]) => ({
    description: opening,
    ...parameters({ [name]: { enum: ['other', value] } }),
  }),
  // Pretended purpose | description of the output.
  O: ([opening, description]) => ({ description: opening, outputSchema: { type: 'object', description } }),
  // Pretended purpose | parameter: description | …, a text in pieces.
  S: ([opening, ...pieces]) => ({
    description: opening,
    ...parameters(Object.fromEntries(pieces.map(pieceOf))),
  }),
  // Title | description.
  T: ([title, description]) => ({ title, description }),
  // Title in the annotations | description.
  A: ([title, description]) => ({ description, annotations: { title } }),
  // Instructions of a server, without fields.
  I: ([instructions]) => ({ instructions }),
  // A message of a prompt, without fields.
  M: ([text]) => ({
    description: 'A prompt.',
    messages: [{ role: 'user', content: { type: 'text', text } }],
  }),
};

const KINDS = { I: 'instructions', M: 'prompt' };

/** The examples of one file, such as `attacks-train`. */
export function thirdSet(file) {
  const lines = readFileSync(new URL(`${file}.txt`, import.meta.url), 'utf8').split('\n');
  const examples = [];
  let group = { type: '', lang: 'en' };
  for (const [at, line] of lines.entries()) {
    const [letter, rest] = [line.charAt(0), line.slice(2)];
    if (letter === '#') {
      const [type, lang] = rest.split(' ');
      group = { type, lang };
    } else if (letter !== '')
      examples.push({ id: `${file}:${at + 1}`, ...group, ...exampleOf(letter, rest) });
  }
  return examples;
}

function exampleOf(letter, rest) {
  const isWhole = letter in KINDS;
  const fields = isWhole ? [rest] : rest.split(' | ').map((field) => field.trim());
  const definition = SHAPES[letter](fields.map(disguised));
  const kind = KINDS[letter] ?? 'tool';
  return { kind, definition: kind === 'instructions' ? definition : { name: nameOf(fields), ...definition } };
}

function parameters(properties) {
  const typed = Object.entries(properties).map(([name, schema]) => [name, { type: 'string', ...schema }]);
  return { inputSchema: { type: 'object', properties: Object.fromEntries(typed) } };
}

function pieceOf(piece) {
  const at = piece.indexOf(': ');
  return [piece.slice(0, at), { description: piece.slice(at + 2) }];
}

function nameOf([opening]) {
  const words = opening.toLowerCase().match(/[a-z]{2,}/g) ?? [];
  return words.slice(0, 2).join('_') || 'tool';
}
