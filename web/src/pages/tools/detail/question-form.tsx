import { useId, useRef, useState } from 'preact/hooks';

import type { AdminQuestion } from '../../../../../src/admin/contract/contract.ts';
import { begun, missing } from '../../../lib/filled.ts';
import { schemaIn } from '../../../lib/schema-field.ts';
import { visible } from '../../../lib/visible.ts';
import { Button } from '../../../parts/button.tsx';
import { SchemaForm } from '../../../parts/form/schema-form.tsx';
import { Dialog } from '../../../parts/overlay/dialog.tsx';
import { useStore } from '../../../store/use-store.ts';

interface QuestionFormProps {
  readonly question: AdminQuestion;
  readonly onAnswered: () => void;
}

/** What the server wants to know before it goes on; closing it says no. */
export function QuestionForm({ question, onAnswered }: QuestionFormProps) {
  const { api, notices } = useStore();
  const { message, requestedSchema } = question.params;
  const schema = schemaIn(requestedSchema) ?? {};
  const [content, setContent] = useState(() => begun(schema));
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const needed = missing(schema, content);
  const answer = async (action: 'accept' | 'decline' | 'cancel'): Promise<void> => {
    const result = action === 'accept' ? { action, content } : { action };
    await api.ask('POST /api/answer', { id: question.id, result });
    onAnswered();
  };
  const accept = async (): Promise<void> => {
    if (form.current?.reportValidity() !== false && needed.length === 0) await answer('accept');
  };
  return (
    <Dialog
      title="The server asks"
      isSticky
      onClose={() => void answer('cancel').catch((error: unknown) => notices.fail(error))}
      actions={
        <>
          <Button onPress={async () => answer('decline')}>Decline</Button>
          <Button kind="main" isDisabled={needed.length > 0} onPress={accept}>
            Answer
          </Button>
        </>
      }
    >
      <p class="question-says" id={id}>
        {typeof message === 'string' ? visible(message) : 'It did not say why.'}
      </p>
      <form
        ref={form}
        aria-labelledby={id}
        onSubmit={(event) => {
          event.preventDefault();
          void accept().catch((error: unknown) => notices.fail(error));
        }}
      >
        <p class="small faint">What you answer goes to the server. Never give it a password.</p>
        <SchemaForm schema={schema} value={content} onChange={setContent} />
      </form>
    </Dialog>
  );
}
