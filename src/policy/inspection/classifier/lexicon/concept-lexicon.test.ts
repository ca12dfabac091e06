import { expect, test } from 'vitest';

import { normalizeText } from '../../normalize-text.ts';
import { findConceptMentions, splitWords } from '../concept-mentions.ts';
import { buildConceptLexicon } from './concept-lexicon.ts';

test.each([
  ['kullanıcıya', 'person'],
  ['пользователю', 'person'],
  ['用户', 'person'],
  ['Passwörter', 'secret'],
])('lexicon: recognizes %s as %s after normalization', (word, concept) => {
  const lexicon = buildConceptLexicon();
  const meant = findConceptMentions(splitWords(normalizeText(word)), lexicon, new Map());
  expect(meant.map((mention) => lexicon.concepts[mention.concept])).toContain(concept);
});
