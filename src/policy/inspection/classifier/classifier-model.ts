import type { AttributeTable } from './attribute-table.ts';
import type { ConceptLexicon } from './lexicon/concept-lexicon.ts';
import type { TermVocabulary, WordGroups } from './term-vocabulary.ts';

/** The tables that turn texts into features. */
export interface ClassifierModel {
  readonly lexicon: ConceptLexicon;
  readonly attributes: AttributeTable;
  readonly vocabulary: TermVocabulary;
  readonly wordGroups: WordGroups;
  /** Whether a feature has a weight. Ordered pairs without one are not collected. */
  readonly isWeighted: (feature: number) => boolean;
}
