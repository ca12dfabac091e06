import { useId, useState } from 'preact/hooks';

import { asProblem, type Problem } from '../api/problem.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/form/field.tsx';
import { Mark } from '../parts/mark.tsx';
import { ProblemNote } from '../parts/page/problem-note.tsx';
import { useStore } from '../store/use-store.ts';

/** Shown to a browser that the gateway does not know. */
export function SignIn() {
  const { signIn } = useStore();
  const id = useId();
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const submit = async (): Promise<void> => {
    setProblem(undefined);
    try {
      await signIn(key.trim());
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  // The words about a wrong key say what to do themselves.
  const isWrong = problem?.isSignedOut === true;
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div class="brand">
          <Mark />
          Trunkline
        </div>
        <div>
          <h1>Sign in</h1>
          <p class="soft">
            The quickest way is a link. Run this where the gateway runs; it opens this page, signed in:
          </p>
        </div>
        <pre>trunkline dashboard</pre>
        <p class="soft">Or paste the gateway’s admin key.</p>
        <Field
          label="Admin key"
          id={id}
          hint="It is in run/admin.key of the state folder, and another one after each start."
        >
          <input
            id={id}
            type="password"
            autocomplete="current-password"
            aria-describedby={`${id}-hint`}
            required
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </Field>
        {problem !== undefined && (
          <ProblemNote problem={{ message: problem.message, advice: isWrong ? undefined : problem.advice }} />
        )}
        <Button kind="main" type="submit" isDisabled={key.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
