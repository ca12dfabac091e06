import { useEffect, useRef, useState } from 'preact/hooks';

import type { AdminQuestion, AdminToolDetail } from '../../../../../src/admin/contract/contract.ts';
import { callTool, type Called } from '../../../api/call-tool.ts';
import { asProblem, type Problem } from '../../../api/problem.ts';
import { begun, missing } from '../../../lib/filled.ts';
import { visible } from '../../../lib/visible.ts';
import { Button } from '../../../parts/button.tsx';
import { SchemaForm } from '../../../parts/form/schema-form.tsx';
import { ProblemNote } from '../../../parts/page/problem-note.tsx';
import { useStore } from '../../../store/use-store.ts';
import { ResultView } from '../result/result-view.tsx';
import { CallCommand } from './call-command.tsx';
import { QuestionForm } from './question-form.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

interface TryToolProps {
  readonly tool: AdminToolDetail;
  readonly schema: JsonObject;
}

interface Going {
  readonly stop: AbortController;
  readonly says: string;
  /** How much of it is done, if it says so. */
  readonly share: number | undefined;
  /** The first is put to the person. */
  readonly questions: readonly AdminQuestion[];
}

/** A form made from the schema, the call, and what came of it. */
export function TryTool({ tool, schema }: TryToolProps) {
  const { api, notices } = useStore();
  const [args, setArgs] = useState<JsonObject>(() => begun(schema));
  const [going, setGoing] = useState<Going>();
  const [called, setCalled] = useState<Called>();
  const [problem, setProblem] = useState<Problem>();
  const [isCancelled, setCancelled] = useState(false);
  const shown = useRef<HTMLDivElement>(null);
  const needed = missing(schema, args);
  const question = going?.questions[0];
  const last = useRef<AbortController>(undefined);
  // Nobody would be there to answer what it asks.
  useEffect(() => () => last.current?.abort(), []);
  const tell = (change: (now: Going) => Partial<Going>): void =>
    setGoing((now) => now && { ...now, ...change(now) });
  const call = async (): Promise<void> => {
    const isAgreed =
      tool.tier !== 'destructive' ||
      (await notices.confirm({
        title: `Call ${tool.name}?`,
        text: 'It may destroy something that cannot be brought back.',
        action: 'Call it',
        isDangerous: true,
      }));
    if (!isAgreed) return;
    const stop = new AbortController();
    last.current = stop;
    setGoing({ stop, says: 'Calling', share: undefined, questions: [] });
    setProblem(undefined);
    setCancelled(false);
    setCalled(undefined);
    try {
      const input = { name: tool.name, args, asks: true };
      const onEvent: Parameters<typeof callTool>[2]['onEvent'] = ({ event, data }) => {
        if (event === 'question') tell(({ questions }) => ({ questions: [...questions, data] }));
        else if (event === 'progress') tell(() => progressOf(data));
        else if (typeof data['data'] === 'string') tell(() => ({ says: String(data['data']) }));
      };
      setCalled(await callTool(api, input, { signal: stop.signal, onEvent }));
      requestAnimationFrame(() => shown.current?.scrollIntoView({ block: 'nearest' }));
    } catch (error) {
      if (stop.signal.aborted) setCancelled(true);
      else setProblem(asProblem(error));
    } finally {
      setGoing(undefined);
    }
  };
  return (
    <div class="try">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (going === undefined && needed.length === 0) void call();
        }}
      >
        <SchemaForm schema={schema} value={args} onChange={setArgs} />
        <div class="actions">
          <Button kind="main" type="submit" isDisabled={going !== undefined || needed.length > 0}>
            Call
          </Button>
          {going !== undefined && <Button onPress={() => going.stop.abort()}>Cancel</Button>}
          <p class="small soft" role="status">
            {visible(going?.says ?? restingWords(needed, isCancelled))}
          </p>
          {going?.share !== undefined && <progress aria-label="Progress" value={going.share} />}
        </div>
        <CallCommand name={tool.name} args={args} />
      </form>
      <div ref={shown} class="try-result">
        {problem !== undefined && <ProblemNote problem={problem} />}
        {called !== undefined && <ResultView called={called} />}
      </div>
      {question !== undefined && (
        <QuestionForm
          key={question.id}
          question={question}
          onAnswered={() =>
            tell(({ questions }) => ({
              questions: questions.filter(({ id }) => id !== question.id),
              says: 'Answered',
            }))
          }
        />
      )}
    </div>
  );
}

function restingWords(needed: readonly string[], isCancelled: boolean): string {
  if (needed.length > 0) return `Still needs ${needed.join(', ')}`;
  return isCancelled ? 'Cancelled. What it had done by then stays done.' : '';
}

function progressOf({ progress, total, message }: JsonObject): Pick<Going, 'says' | 'share'> {
  const isKnown = typeof progress === 'number' && typeof total === 'number' && total > 0;
  const share = isKnown ? Math.min(1, Math.max(0, progress / total)) : undefined;
  const words = share === undefined ? String(progress) : `${Math.round(100 * share)} %`;
  return { share, says: typeof message === 'string' ? `${words} · ${message}` : words };
}
