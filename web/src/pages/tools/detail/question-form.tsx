import { useId, useRef, useState } from 'preact/hooks';

import type { AdminQuestion } from '../../../../../src/admin/contract/contract.ts';
import { Button } from '../../../components/button.tsx';
import { SchemaForm } from '../../../components/form/schema-form.tsx';
import { Dialog } from '../../../components/overlay/dialog.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { initialValue, missingFields } from '../../../lib/form-value.ts';
import { asObject } from '../../../lib/schema-field.ts';
import { useStore } from '../../../store/use-store.ts';

interface QuestionFormProps {
  /** The name of the server that asks. */
  readonly server: string;
  readonly question: AdminQuestion;
  readonly onAnswered: () => void;
}

/** Shows a question of the server during a call. Closing the dialog cancels the question. */
export function QuestionForm({ server, question, onAnswered }: QuestionFormProps) {
  const { api, notices } = useStore();
  const { message, requestedSchema } = question.params;
  const schema = asObject(requestedSchema) ?? {};
  const [content, setContent] = useState(() => initialValue(schema));
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const missing = missingFields(schema, content);
  const answer = async (action: 'accept' | 'decline' | 'cancel'): Promise<void> => {
    const result = action === 'accept' ? { action, content } : { action };
    await api.request('POST /api/answer', { id: question.id, result });
    onAnswered();
  };
  const accept = async (): Promise<void> => {
    if (form.current?.reportValidity() !== false && missing.length === 0) await answer('accept');
  };
  return (
    <Dialog
      title={`${server} asks a question`}
      isSticky
      onClose={() => void answer('cancel').catch((error: unknown) => notices.showError(error))}
      actions={
        <>
          <Button onPress={async () => answer('decline')}>Decline</Button>
          <Button kind="main" isDisabled={missing.length > 0} onPress={accept}>
            Answer
          </Button>
        </>
      }
    >
      {/* The warning comes first, because the text of the server could push it out of sight. */}
      <p class="small soft">
        The text and the fields below are from this server, and your answer is sent to it. Never enter a
        password.
      </p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable content must be reachable by keyboard */}
      <p class="question-text" id={id} tabIndex={0}>
        {typeof message === 'string' ? escapeInvisible(message) : 'The server gave no reason.'}
      </p>
      <form
        ref={form}
        aria-labelledby={id}
        onSubmit={(event) => {
          event.preventDefault();
          void accept().catch((error: unknown) => notices.showError(error));
        }}
      >
        <SchemaForm schema={schema} value={content} onChange={setContent} />
      </form>
    </Dialog>
  );
}
