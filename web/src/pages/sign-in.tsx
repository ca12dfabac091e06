import { useId, useState } from 'preact/hooks';

import { toProblem, type Problem } from '../api/problem.ts';
import { Button } from '../components/button.tsx';
import { Field } from '../components/form/field.tsx';
import { Logo } from '../components/logo.tsx';
import { ProblemNote } from '../components/page/problem-note.tsx';
import { useStore } from '../store/use-store.ts';

/** The sign-in page, shown to a browser without a session. */
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
      setProblem(toProblem(error));
    }
  };
  // The message about a wrong key already says what to do.
  const isWrongKey = problem?.isSignedOut === true;
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Introduction />
        <Field
          label="Admin key"
          id={id}
          hint="The key is in run/admin.key of the state folder. It changes with every start."
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
          <ProblemNote
            problem={{ message: problem.message, advice: isWrongKey ? undefined : problem.advice }}
          />
        )}
        <Button kind="main" type="submit" isDisabled={key.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  );
}

function Introduction() {
  return (
    <>
      <div class="brand">
        <Logo />
        Trunkline
      </div>
      <div>
        <h1>Sign in</h1>
        <p class="soft">
          The fastest way is a link. Run this command on the machine of the gateway; it opens this page and
          signs you in:
        </p>
      </div>
      <pre>trunkline dashboard</pre>
      <p class="soft">Or paste the admin key of the gateway.</p>
    </>
  );
}
