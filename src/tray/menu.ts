import type { AdminServer, AdminWaitingCall } from '../admin/contract/contract.ts';
import { counted, label } from './label.ts';
import { headline, needsOf } from './state.ts';
import type { GatewayFacts, Need, TrayState } from './state.ts';

/** What choosing an item does. */
export type TrayAction = Deed | { readonly do: 'quit' };

/** All but ending the tray itself. */
export type Deed =
  | { readonly do: 'open'; readonly page: string }
  | { readonly do: 'sign-in'; readonly server: string }
  | { readonly do: 'switch'; readonly server: string; readonly isOn: boolean }
  | { readonly do: 'decide'; readonly call: string; readonly decision: 'accept' | 'refuse' }
  | { readonly do: 'refresh' | 'pause' | 'resume' | 'edit' };

export interface MenuItem {
  /** The same for the same thing, however its label changes. */
  readonly key: string;
  /** Empty for a line between groups. */
  readonly label: string;
  /** Absent for what only informs or opens further items. */
  readonly action?: TrayAction;
  /** Of what can be on or off. */
  readonly isChecked?: boolean;
  readonly items?: readonly MenuItem[];
}

/** A menu that is longer than a screen helps nobody; the dashboard has everything. */
const MOST_NEEDS = 10;
const MOST_SERVERS = 40;
const LONGEST_ARGUMENTS = 120;

/** The whole menu for a state; nothing else decides what is shown. */
export function menuOf(state: TrayState): readonly MenuItem[] {
  const { gateway, notice } = state;
  const quit: MenuItem = { key: 'quit', label: 'Quit this icon', action: { do: 'quit' } };
  const edit: MenuItem = { key: 'edit', label: 'Edit configuration…', action: { do: 'edit' } };
  const said = notice === undefined ? [] : [{ key: 'notice', label: label(notice) }];
  const top = { key: 'headline', label: headline(state) };
  if (gateway === undefined) {
    const hint = { key: 'hint', label: 'It starts with the first client, or with: trunkline serve --http' };
    return [top, hint, ...said, line('end'), edit, quit];
  }
  const needs = needsOf(gateway);
  return [
    ...[top, ...today(gateway), ...said],
    ...(needs.length > 0 ? [line('needs'), ...needItems(needs)] : []),
    ...[line('servers'), serverItems(gateway.status.servers)],
    ...verbs(gateway, edit),
    ...[line('end'), quit],
  ];
}

function today({ today: counts }: GatewayFacts): readonly MenuItem[] {
  if (counts === undefined) return [];
  const { calls, errors } = counts;
  return [{ key: 'today', label: `Today: ${counted(calls, 'call')}, ${counted(errors, 'error')}` }];
}

function verbs({ status }: GatewayFacts, edit: MenuItem): readonly MenuItem[] {
  const isPaused = status.pausedSince !== undefined;
  return [
    { key: 'add', label: 'Add a server…', action: { do: 'open', page: '/servers?add=form' } },
    line('verbs'),
    { key: 'dashboard', label: 'Open dashboard', action: { do: 'open', page: '/' } },
    edit,
    { key: 'refresh', label: 'Re-index all tools', action: { do: 'refresh' } },
    isPaused
      ? { key: 'pause', label: 'Resume serving', action: { do: 'resume' } }
      : { key: 'pause', label: 'Pause serving', action: { do: 'pause' } },
  ];
}

function serverItems(servers: readonly AdminServer[]): MenuItem {
  const on = servers.filter(({ enabled }) => enabled).length;
  const more = servers.length - MOST_SERVERS;
  const items = servers.slice(0, MOST_SERVERS).map((server): MenuItem => ({
    key: `server ${server.name}`,
    label: `${label(server.name, 40)}: ${stateOf(server)}`,
    isChecked: server.enabled,
    action: { do: 'switch', server: server.name, isOn: !server.enabled },
  }));
  const rest: MenuItem = { key: 'more', label: `${more} more…`, action: { do: 'open', page: '/servers' } };
  const none: MenuItem = { key: 'none', label: 'There are none yet' };
  return {
    key: 'servers',
    label: `Servers (${on} of ${servers.length} on)`,
    items: servers.length === 0 ? [none] : more > 0 ? [...items, rest] : items,
  };
}

/** In words, so that nobody depends on a colour. */
function stateOf({ enabled, state, tools, problem }: AdminServer): string {
  if (!enabled) return 'off';
  const words: Readonly<Record<string, string>> = {
    ready: 'ready',
    idle: 'asleep',
    'needs-auth': 'sign-in needed',
    held: 'waits for your approval',
    waiting: 'cannot be reached, will be tried again',
    failed: 'failed',
  };
  const known = words[state] ?? state;
  return problem === undefined ? `${known}, ${counted(tools, 'tool')}` : known;
}

function needItems(needs: readonly Need[]): readonly MenuItem[] {
  const more = needs.length - MOST_NEEDS;
  const items = needs.slice(0, MOST_NEEDS).map(needItem);
  const rest: MenuItem = {
    key: 'needs more',
    label: `${more} more…`,
    action: { do: 'open', page: '/approvals' },
  };
  return more > 0 ? [...items, rest] : items;
}

function needItem(need: Need): MenuItem {
  const approvals = { do: 'open', page: '/approvals' } as const;
  switch (need.kind) {
    case 'call':
      return callItem(need.call);
    case 'server':
      return {
        key: `held ${need.server}`,
        label: `Approve the new server ${label(need.server, 40)}…`,
        action: approvals,
      };
    case 'entries':
      return {
        key: `entries ${need.server}`,
        label: `Review ${counted(need.count, 'change')} of ${label(need.server, 40)}…`,
        action: approvals,
      };
    case 'more':
      return { key: 'waits', label: `${need.count} more to approve…`, action: approvals };
    case 'sign-in':
      return {
        key: `sign-in ${need.server}`,
        label: `Sign in to ${label(need.server, 40)}…`,
        action: { do: 'sign-in', server: need.server },
      };
    case 'config':
      return {
        key: 'config',
        label: label(`Mend the configuration, ${need.problem}`, 64),
        action: { do: 'edit' },
      };
    case 'broken':
      return {
        key: `broken ${need.server}`,
        label: label(`Mend ${label(need.server, 40)}: ${need.problem}`, 64),
        action: { do: 'open', page: `/servers?server=${encodeURIComponent(need.server)}` },
      };
  }
}

/** Only what can be shown whole can be allowed here: nobody should agree to what they have not seen. */
function callItem({ id, server, name, caller, arguments: given }: AdminWaitingCall): MenuItem {
  const text = JSON.stringify(given);
  const isShown = label(text, LONGEST_ARGUMENTS) === text;
  const allow: MenuItem = {
    key: `allow ${id}`,
    label: 'Allow this call',
    action: { do: 'decide', call: id, decision: 'accept' },
  };
  const look: MenuItem = {
    key: `look ${id}`,
    label: 'Look at it in the dashboard…',
    action: { do: 'open', page: '/approvals' },
  };
  return {
    key: `call ${id}`,
    label: `${label(caller, 30)} waits to call ${label(`${server}: ${name}`, 60)}`,
    items: [
      ...(isShown ? [{ key: `with ${id}`, label: text === '{}' ? 'Without arguments' : text }, allow] : []),
      look,
      {
        key: `refuse ${id}`,
        label: 'Refuse it',
        action: { do: 'decide', call: id, decision: 'refuse' },
      },
    ],
  };
}

function line(key: string): MenuItem {
  return { key: `line ${key}`, label: '' };
}
