import type { ComponentChildren } from 'preact';

import type { Resource } from '../../store/resource.ts';
import { ProblemNote } from './problem-note.tsx';
import { LoadingNote } from './loading-note.tsx';

interface ResourceContentProps<Value> {
  readonly resource: Resource<Value>;
  readonly children: (value: Value) => ComponentChildren;
}

/** Renders the value of a resource. It shows a loading note before the first response, and problems with a retry button. */
export function ResourceContent<Value>({ resource: from, children }: ResourceContentProps<Value>) {
  const value = from.value.value;
  const problem = from.problem.value;
  return (
    <>
      {problem !== undefined && <ProblemNote problem={problem} onRetry={async () => from.load()} />}
      {value !== undefined && children(value)}
      {value === undefined && problem === undefined && <LoadingNote />}
    </>
  );
}
