import { useEffect, useRef, useState } from 'preact/hooks';

import type { AdminToolDetail } from '../../../../../src/admin/contract/contract.ts';
import { Button } from '../../../components/button.tsx';
import { SchemaForm } from '../../../components/form/schema-form.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { initialValue, missingFields } from '../../../lib/form-value.ts';
import { withoutSecrets } from '../../../lib/without-secrets.ts';
import { useStore } from '../../../store/use-store.ts';
import { ResultView } from '../result/result-view.tsx';
import { CallCommand } from './call-command.tsx';
import { EarlierCalls } from './earlier-calls.tsx';
import { QuestionForm } from './question-form.tsx';
import { useToolCall } from './use-tool-call.ts';

type JsonObject = Readonly<Record<string, unknown>>;

interface TryToolProps {
  readonly tool: AdminToolDetail;
  readonly schema: JsonObject;
}

/** A form for the arguments of a tool, with the result of the call. */
export function TryTool({ tool, schema }: TryToolProps) {
  const [args, setArgs] = useState<JsonObject>(() => initialValue(schema));
  const { running, outcome, call, removeQuestion } = useToolCall(tool);
  const { history } = useStore();
  const resultBox = useRef<HTMLDivElement>(null);
  const missing = missingFields(schema, args);
  const question = running?.questions[0];
  const result = outcome?.result;
  useEffect(() => {
    if (result !== undefined) resultBox.current?.scrollIntoView({ block: 'nearest' });
  }, [result]);
  return (
    <div class="try">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (running !== undefined || missing.length > 0) return;
          history.add(tool.name, withoutSecrets(args, schema), Date.now());
          void call(args);
        }}
      >
        <SchemaForm schema={schema} value={args} onChange={setArgs} />
        <div class="actions">
          <Button kind="main" type="submit" isDisabled={running !== undefined || missing.length > 0}>
            Call
          </Button>
          {running !== undefined && <Button onPress={() => running.controller.abort()}>Cancel</Button>}
          <p class="small soft" role="status">
            {escapeInvisible(running?.message ?? idleMessage(missing, outcome?.isCancelled === true))}
          </p>
          {running?.share !== undefined && <progress aria-label="Progress" value={running.share} />}
        </div>
        <EarlierCalls tool={tool.name} onUse={setArgs} />
        <CallCommand name={tool.name} args={args} />
      </form>
      <div ref={resultBox} class="try-result">
        {outcome?.problem !== undefined && <ProblemNote problem={outcome.problem} />}
        {result !== undefined && <ResultView call={result} />}
      </div>
      {question !== undefined && (
        <QuestionForm
          key={question.id}
          server={tool.server}
          question={question}
          onAnswered={() => removeQuestion(question.id)}
        />
      )}
    </div>
  );
}

function idleMessage(missing: readonly string[], isCancelled: boolean): string {
  if (missing.length > 0) return `Missing: ${missing.join(', ')}`;
  return isCancelled ? 'Cancelled. Changes that the tool already made are not undone.' : '';
}
