import { expect, test } from 'vitest';

import { plainText } from '../../plain-words.ts';
import { mentionsIn, wordsOf } from '../concepts.ts';
import { readLexicon } from './lexicon.ts';

test.each([
  ['kullanıcıya', 'person'],
  ['пользователю', 'person'],
  ['用户', 'person'],
  ['Passwörter', 'secret'],
])('%s is known in the spelling in which texts are read', (word, concept) => {
  const lexicon = readLexicon();
  const meant = mentionsIn(wordsOf(plainText(word)), lexicon, new Map());
  expect(meant.map((mention) => lexicon.concepts[mention.concept])).toContain(concept);
});
