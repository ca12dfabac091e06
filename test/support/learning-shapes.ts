import { LearnedShapes } from '../../src/exposure/results/learned-shapes.ts';

type Options = ConstructorParameters<typeof LearnedShapes>[0];

/** Returns learned shapes that are stored nowhere, unless `changes` say so, with the problems they logged. */
export function learningShapes(changes: Partial<Options> = {}) {
  const problems: string[] = [];
  const shapes = new LearnedShapes({
    database: () => Promise.reject(new Error('There is no database.')),
    isStored: () => false,
    isEnabled: () => true,
    now: () => 1_000_000,
    clock: () => 0,
    log: { warn: (message) => void problems.push(message) },
    ...changes,
  });
  return { shapes, problems };
}
