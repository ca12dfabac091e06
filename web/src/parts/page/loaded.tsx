import type { ComponentChildren } from 'preact';

import type { Resource } from '../../store/resource.ts';
import { ProblemNote } from './problem-note.tsx';
import { Waiting } from './waiting.tsx';

interface LoadedProps<Value> {
  readonly from: Resource<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows a resource: waits for its first answer, says what went wrong, and keeps the last answer meanwhile. */
export function Loaded<Value>({ from, children }: LoadedProps<Value>) {
  const value = from.value.value;
  const problem = from.problem.value;
  return (
    <>
      {problem !== undefined && <ProblemNote problem={problem} onRetry={async () => from.load()} />}
      {value !== undefined && children(value)}
      {value === undefined && problem === undefined && <Waiting />}
    </>
  );
}
