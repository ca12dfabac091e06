import type { Problem } from '../../api/problem.ts';
import { Button } from '../button.tsx';

interface ProblemNoteProps {
  readonly problem: Pick<Problem, 'message' | 'advice'>;
  readonly onRetry?: () => unknown;
}

/** An error of this part of the page, with advice. */
export function ProblemNote({ problem, onRetry }: ProblemNoteProps) {
  return (
    <div class="note bad" role="alert">
      <div>
        <p>{problem.message}</p>
        {problem.advice !== undefined && <p class="soft">{problem.advice}</p>}
      </div>
      {onRetry !== undefined && (
        <Button isSmall onPress={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
