import type { ComponentChildren } from 'preact';

import type { AdminServer, AdminSignInStatus } from '../../../../../src/admin/contract/contract.ts';
import { dateTime, relative } from '../../../lib/format.ts';
import { visible } from '../../../lib/visible.ts';
import { CodeBlock } from '../../../parts/data/code-block.tsx';
import { Section } from '../../../parts/page/section.tsx';
import { useStore } from '../../../store/use-store.ts';
import { reachedAs } from '../server-words.ts';
import { SignInState } from './sign-in-state.tsx';

/** The facts about a server: how it is reached, who it says it is, who is signed in. */
export function About({ server }: { server: AdminServer }) {
  const { signIns } = useStore();
  const { name, transport, server: facts } = server;
  const signIn = signIns.value.value?.find((each) => each.server === name && each.caller === '');
  const values = transport === undefined ? {} : transport.kind === 'http' ? transport.headers : transport.env;
  return (
    <div class="about">
      <Section title="How it is reached">
        {transport === undefined ? (
          <p class="soft">It is disabled; its entry says how it would be.</p>
        ) : (
          <CodeBlock text={reachedAs(server)} copyLabel="Copy" />
        )}
        <Facts>
          {Object.entries(values).map(([key, value]) => (
            <Fact key={key} name={key}>
              <code>{value}</code>
            </Fact>
          ))}
          <Reached server={server} signIn={signIn} />
        </Facts>
      </Section>
      {facts !== undefined && (
        <Section title="What it says of itself">
          <Facts>
            <Fact name="Name">{words(facts.info['title'] ?? facts.info['name'])}</Fact>
            <Fact name="Version">{words(facts.info['version'])}</Fact>
            <Fact name="Protocol">{facts.protocol}</Fact>
            <Fact name="Capabilities">
              {Object.keys(facts.capabilities).map(visible).join(', ') || 'none'}
            </Fact>
          </Facts>
          {facts.instructions !== undefined && (
            <>
              <h3>Instructions for models</h3>
              <CodeBlock text={visible(facts.instructions)} />
            </>
          )}
        </Section>
      )}
    </div>
  );
}

function Reached({ server, signIn }: { server: AdminServer; signIn: AdminSignInStatus | undefined }) {
  const { now } = useStore();
  const { transport, share, pid, listedAt } = server;
  return (
    <>
      {transport?.kind !== 'http' && transport?.cwd !== undefined && (
        <Fact name="Folder">
          <code>{transport.cwd}</code>
        </Fact>
      )}
      {transport?.kind === 'http' && <Fact name="Transport">{transport.flavour}</Fact>}
      {transport?.kind === 'cli' && <Fact name="Kind">a program without MCP; its help lists the tools</Fact>}
      {share !== undefined && (
        <Fact name="Share">
          {share === 'all' ? 'all clients use one connection' : 'every client session has its own'}
        </Fact>
      )}
      {pid !== undefined && <Fact name="Process">{pid}</Fact>}
      <Fact name="Last listed">
        {listedAt === undefined ? 'never' : `${relative(listedAt, now.value)}, ${dateTime(listedAt)}`}
      </Fact>
      {signIn !== undefined && signIn.state !== 'header' && (
        <Fact name="Sign-in">
          <SignInState signIn={signIn} />
        </Fact>
      )}
    </>
  );
}

function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function words(value: unknown): string {
  return typeof value === 'string' && value !== '' ? visible(value) : '–';
}
