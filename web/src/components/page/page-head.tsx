import type { ComponentChildren } from 'preact';

interface PageHeadProps {
  readonly title: string;
  /** A one-line summary. */
  readonly aside?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The title of a page; the children are the actions of the page. */
export function PageHead({ title, aside, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        {aside !== undefined && <p class="soft number">{aside}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </div>
  );
}
