import type { Lexicon } from './lexicon/lexicon.ts';
import type { Marks } from './marks.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { WordGroups } from './word-groups.ts';

/** What is known of words before anything is read. */
export interface Reader {
  readonly lexicon: Lexicon;
  readonly marks: Marks;
  readonly vocabulary: Vocabulary;
  readonly groups: WordGroups;
  /** Whether a feature can change anything; what cannot is not noted. */
  readonly counts: (feature: number) => boolean;
}
