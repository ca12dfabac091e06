import type { ComponentChildren } from 'preact';

interface EmptyStateProps {
  /** What there is not. */
  readonly title: string;
  /** What to do next: a sentence, a command, a button. */
  readonly children: ComponentChildren;
}

export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <div class="soft">{children}</div>
    </div>
  );
}
