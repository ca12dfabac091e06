// What the weights are fitted to: the windows that the inspection judges, and how their features are called.

import type { JsonObject } from '../../src/model/json.ts';
import { decodedIn } from '../../src/policy/inspect/encoded.ts';
import { READER, subjectOfDefinition, windowsIn } from '../../src/policy/inspect/judge/judge.ts';
import { nameOf } from '../../src/policy/inspect/judge/weights.ts';
import { eachFeature, shownOf } from '../../src/policy/inspect/judge/windows.ts';
import { passagesOf } from '../../src/policy/inspect/passages.ts';

interface FeaturesOfWindow {
  readonly where: string;
  readonly text: string;
  readonly isOfTwo: boolean;
  readonly features: readonly (number | string)[];
}

export function windowsOfDefinition(definition: JsonObject): readonly FeaturesOfWindow[] {
  const subject = subjectOfDefinition(definition);
  return passagesOf(definition).passages.flatMap(({ where, ...passage }) =>
    [passage.text, ...decodedIn(passage.text).map(({ text }) => text)]
      .flatMap((text) => windowsIn({ ...passage, where, text }, subject))
      .map((window) => {
        const features: (number | string)[] = [];
        eachFeature(window, (feature) => features.push(feature));
        return { where, text: shownOf(window), isOfTwo: window.next !== undefined, features };
      }),
  );
}

export function nameOfFeature(feature: number | string): string {
  return nameOf(feature, READER.marks);
}
