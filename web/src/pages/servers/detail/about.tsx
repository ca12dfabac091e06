import type { ComponentChildren } from 'preact';

import type { AdminServer, AdminSignInStatus } from '../../../../../src/admin/contract/contract.ts';
import { Button } from '../../../components/button.tsx';
import { CodeBlock } from '../../../components/data/code-block.tsx';
import { Section } from '../../../components/page/section.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { formatDateTime, formatRelative } from '../../../lib/format.ts';
import { useStore } from '../../../store/use-store.ts';
import { runServerAction } from '../run-server-action.ts';
import { describeTransport } from '../server-text.ts';

/** Shows how a server is reached, what it reports about itself, and the sign-in. */
export function About({ server }: { server: AdminServer }) {
  const { transport, server: facts } = server;
  const values = transport === undefined ? {} : transport.kind === 'http' ? transport.headers : transport.env;
  return (
    <div class="about">
      <Section title="Connection">
        {transport === undefined ? (
          <p class="soft">The server is disabled. Its configuration shows how it would be reached.</p>
        ) : (
          <CodeBlock text={describeTransport(server)} copyLabel="Copy" />
        )}
        <dl class="facts">
          {Object.entries(values).map(([key, value]) => (
            <Fact key={key} name={key}>
              <code>{value}</code>
            </Fact>
          ))}
          <ConnectionFacts server={server} />
        </dl>
      </Section>
      {facts !== undefined && (
        <Section title="Reported by the server">
          <dl class="facts">
            <Fact name="Name">{formatText(facts.info['title'] ?? facts.info['name'])}</Fact>
            <Fact name="Version">{formatText(facts.info['version'])}</Fact>
            <Fact name="Protocol">{facts.protocol}</Fact>
            <Fact name="Capabilities">
              {Object.keys(facts.capabilities).map(escapeInvisible).join(', ') || 'none'}
            </Fact>
          </dl>
          {facts.instructions !== undefined && (
            <>
              <h3>Instructions for models</h3>
              <CodeBlock text={escapeInvisible(facts.instructions)} />
            </>
          )}
        </Section>
      )}
    </div>
  );
}

const shareLabels = {
  all: 'all clients share one connection',
  session: 'every client session has its own connection',
  fleet: 'one gateway of the fleet runs it for all',
} as const;

function ConnectionFacts({ server }: { server: AdminServer }) {
  const { now, signIns } = useStore();
  const { name, transport, share, pid, listedAt } = server;
  const signIn = signIns.value.value?.find((status) => status.server === name && status.caller === '');
  return (
    <>
      {transport?.kind !== 'http' && transport?.cwd !== undefined && (
        <Fact name="Working folder">
          <code>{transport.cwd}</code>
        </Fact>
      )}
      {transport?.kind === 'http' && <Fact name="Transport">{transport.flavour}</Fact>}
      {transport?.kind === 'cli' && (
        <Fact name="Kind">a command-line program; its help text defines the tools</Fact>
      )}
      {share !== undefined && <Fact name="Share">{shareLabels[share]}</Fact>}
      {pid !== undefined && <Fact name="Process ID">{pid}</Fact>}
      <Fact name="Last listed">
        {listedAt === undefined
          ? 'never'
          : `${formatRelative(listedAt, now.value)}, ${formatDateTime(listedAt)}`}
      </Fact>
      {signIn !== undefined && signIn.state !== 'header' && (
        <Fact name="Sign-in">
          <SignInState signIn={signIn} />
        </Fact>
      )}
    </>
  );
}

const signInLabels: Readonly<Record<AdminSignInStatus['state'], string>> = {
  'signed-in': 'signed in',
  expired: 'expired',
  'needs-sign-in': 'required',
  header: 'by header',
  'not-signed-in': 'not required so far',
};

/** Shows who is signed in, with the button to sign in or out. */
function SignInState({ signIn }: { signIn: AdminSignInStatus }) {
  const store = useStore();
  const { server, state, account, expiresAt, renews, problem } = signIn;
  const isSignedIn = state === 'signed-in';
  const accountText = isSignedIn && account !== undefined ? ` as ${account}` : '';
  const expiryText =
    isSignedIn && expiresAt !== undefined && renews !== true
      ? `, ends ${formatRelative(expiresAt, store.now.value)}`
      : '';
  return (
    <>
      {`${signInLabels[state]}${accountText}${expiryText}`}
      {problem !== undefined && <span class="problem"> {problem}</span>}{' '}
      <Button
        isSmall
        label={isSignedIn ? `Sign out of ${server}` : `Sign in to ${server}`}
        onPress={async () => runServerAction(isSignedIn ? 'sign-out' : 'sign-in', server, store)}
      >
        {isSignedIn ? 'Sign out' : 'Sign in'}
      </Button>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function formatText(value: unknown): string {
  return typeof value === 'string' && value !== '' ? escapeInvisible(value) : '–';
}
