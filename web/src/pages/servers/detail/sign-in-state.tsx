import type { AdminSignInStatus } from '../../../../../src/admin/contract/contract.ts';
import { relative } from '../../../lib/format.ts';
import { Button } from '../../../parts/button.tsx';
import { useStore } from '../../../store/use-store.ts';
import { actOnServer } from '../act-on-server.ts';

/** Who is signed in to a server, and the button that changes it. */
export function SignInState({ signIn }: { signIn: AdminSignInStatus }) {
  const store = useStore();
  const { server, state, account, expiresAt, renews, problem } = signIn;
  const isIn = state === 'signed-in';
  const ends =
    expiresAt === undefined || renews === true ? '' : `, ends ${relative(expiresAt, store.now.value)}`;
  return (
    <>
      {isIn ? `signed in${account === undefined ? '' : ` as ${account}`}${ends}` : words[state]}
      {problem !== undefined && <span class="problem"> {problem}</span>}{' '}
      <Button
        isSmall
        label={isIn ? `Sign out of ${server}` : `Sign in to ${server}`}
        onPress={async () => actOnServer(isIn ? 'sign-out' : 'sign-in', server, store)}
      >
        {isIn ? 'Sign out' : 'Sign in'}
      </Button>
    </>
  );
}

const words: Readonly<Record<AdminSignInStatus['state'], string>> = {
  'signed-in': 'signed in',
  expired: 'expired',
  'needs-sign-in': 'needed',
  header: 'by header',
  'not-signed-in': 'not needed so far',
};
