import type { Problem } from '../../api/problem.ts';
import { Button } from '../button.tsx';

interface ProblemNoteProps {
  readonly problem: Pick<Problem, 'message' | 'advice'>;
  readonly onRetry?: () => unknown;
}

/** What went wrong in this part of the page, and what to do about it. */
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
