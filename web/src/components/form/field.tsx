import type { ComponentChildren } from 'preact';

import { escapeInvisible } from '../../lib/escape-invisible.ts';

interface FieldProps {
  readonly label: string;
  /** The id of the input. */
  readonly id?: string;
  readonly isRequired?: boolean;
  readonly hint?: string | undefined;
  /** Why the value is not valid. */
  readonly problem?: string | undefined;
  /** Whether the field contains several inputs with their own labels. */
  readonly isGroup?: boolean;
  readonly children: ComponentChildren;
}

/** A label with its input, hint and problem. The hint has the id `ID-hint`, to be used in `aria-describedby`. */
export function Field({
  label,
  id,
  isRequired = false,
  hint,
  problem,
  isGroup = false,
  children,
}: FieldProps) {
  const title = (
    <>
      {escapeInvisible(label)}
      {isRequired && <span class="required"> required</span>}
    </>
  );
  const messages = (
    <>
      {hint !== undefined && hint !== '' && (
        <p class="hint" id={id && `${id}-hint`}>
          {escapeInvisible(hint)}
        </p>
      )}
      {problem !== undefined && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
  if (isGroup) {
    return (
      <fieldset class="field group">
        <legend>{title}</legend>
        {messages}
        {children}
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id}>{title}</label>
      {children}
      {messages}
    </div>
  );
}
