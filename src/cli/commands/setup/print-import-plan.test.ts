import { expect, test } from 'vitest';

import type { ImportStep } from '../../../setup/import/plan-import.ts';
import type { CliContext } from '../../context.ts';
import { noteRemarks } from './print-import-plan.ts';

function notesOf(step: object): readonly string[] {
  const notes: string[] = [];
  const context = { env: {}, out: { note: (text: string) => void notes.push(text) } };
  noteRemarks(
    [{ state: 'new', remarks: [], ...step } as unknown as ImportStep],
    context as unknown as CliContext,
  );
  return notes;
}

test('import: suggests to store a variable, but no command with a name that a shell executes', () => {
  const entry = { env: { A: '${env:TOKEN}', B: '${env:x; touch pwned}' } };
  expect(notesOf({ as: 'github', entry })).toEqual([
    'github: the environment variable TOKEN is not set. Store its value with: trunkline secret set TOKEN',
    'github: the environment variable x; touch pwned is not set.',
  ]);
});

test('import: keeps a remark on one line, whatever the names in the file are', () => {
  expect(notesOf({ as: 'a\nDone: b', remarks: ['c\nDone: d'] })).toEqual(['a Done: b: c Done: d']);
});
