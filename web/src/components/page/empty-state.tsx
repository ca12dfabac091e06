import type { ComponentChildren } from 'preact';

interface EmptyStateProps {
  /** Says what is missing. */
  readonly title: string;
  /** Says what to do next: a sentence, a command or a button. */
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
