import { formatCount } from '../../core/lib/format-count.ts';
import type { AdminServer, AdminHeldCall } from '../../admin/contract/contract.ts';
import { sanitizeLabel } from './sanitize-label.ts';
import { formatHeadline, listAttentionItems } from './tray-state.ts';
import type { AttentionItem, GatewaySnapshot, TrayState } from './tray-state.ts';

/** The action that choosing a menu item starts. */
export type TrayAction = NonQuitAction | { readonly type: 'quit' };

/** Every action except the one that ends the tray itself. */
export type NonQuitAction =
  | { readonly type: 'open-dashboard'; readonly page: string }
  | { readonly type: 'sign-in'; readonly server: string }
  | { readonly type: 'set-enabled'; readonly server: string; readonly isEnabled: boolean }
  | { readonly type: 'decide-call'; readonly call: string; readonly decision: 'accept' | 'refuse' }
  | { readonly type: 'refresh' | 'pause' | 'resume' | 'edit-config' };

export interface MenuItem {
  /** Identifies the same item across rebuilds of the menu, even if its label changes. */
  readonly key: string;
  /** Empty for a separator. */
  readonly label: string;
  /** Absent for items that only inform or that open a submenu. */
  readonly action?: TrayAction;
  /** Present for items that can be on or off. */
  readonly isChecked?: boolean;
  readonly items?: readonly MenuItem[];
}

/** These limits keep the menu small enough for a screen. The dashboard shows everything. */
const MAX_ATTENTION_ITEMS = 10;
const MAX_SERVERS = 40;
const MAX_ARGUMENT_CHARACTERS = 120;
const MAX_NAME_CHARACTERS = 40;
const MAX_PROBLEM_CHARACTERS = 64;

const OPEN_APPROVALS: TrayAction = { type: 'open-dashboard', page: '/approvals' };

/** Builds the whole menu from the state. The menu depends on nothing else. */
export function buildMenu(state: TrayState): readonly MenuItem[] {
  const { gateway, notice } = state;
  const quit: MenuItem = { key: 'quit', label: 'Quit the tray icon', action: { type: 'quit' } };
  const edit: MenuItem = { key: 'edit', label: 'Edit configuration…', action: { type: 'edit-config' } };
  const noticeItems = notice === undefined ? [] : [{ key: 'notice', label: sanitizeLabel(notice) }];
  const headline = { key: 'headline', label: formatHeadline(state) };
  if (gateway === undefined) {
    const hint = { key: 'hint', label: 'It starts with the first client, or with: trunkline serve --http' };
    return [headline, hint, ...noticeItems, createSeparator('end'), edit, quit];
  }
  const attentionItems = listAttentionItems(gateway);
  return [
    headline,
    ...createTodayItems(gateway),
    ...noticeItems,
    ...(attentionItems.length > 0
      ? [createSeparator('attention'), ...createAttentionMenuItems(attentionItems)]
      : []),
    createSeparator('servers'),
    createServersItem(gateway.status.servers),
    ...createCommandItems(gateway, edit),
    createSeparator('end'),
    quit,
  ];
}

function createTodayItems({ today }: GatewaySnapshot): readonly MenuItem[] {
  if (today === undefined) return [];
  const { calls, errors } = today;
  return [{ key: 'today', label: `Today: ${formatCount(calls, 'call')}, ${formatCount(errors, 'error')}` }];
}

function createAttentionMenuItems(items: readonly AttentionItem[]): readonly MenuItem[] {
  const hiddenCount = items.length - MAX_ATTENTION_ITEMS;
  const menuItems = items.slice(0, MAX_ATTENTION_ITEMS).map(createAttentionMenuItem);
  if (hiddenCount <= 0) return menuItems;
  return [...menuItems, { key: 'attention more', label: `${hiddenCount} more…`, action: OPEN_APPROVALS }];
}

function createAttentionMenuItem(item: AttentionItem): MenuItem {
  switch (item.kind) {
    case 'held-call':
      return createHeldCallItem(item.call);
    case 'held-server':
      return {
        key: `held ${item.server}`,
        label: `Approve the new server ${sanitizeLabel(item.server, MAX_NAME_CHARACTERS)}…`,
        action: OPEN_APPROVALS,
      };
    case 'held-entries':
      return {
        key: `entries ${item.server}`,
        label: `Review ${formatCount(item.count, 'change')} of ${sanitizeLabel(item.server, MAX_NAME_CHARACTERS)}…`,
        action: OPEN_APPROVALS,
      };
    case 'more-approvals':
      return { key: 'more approvals', label: `${item.count} more to approve…`, action: OPEN_APPROVALS };
    case 'sign-in':
      return {
        key: `sign-in ${item.server}`,
        label: `Sign in to ${sanitizeLabel(item.server, MAX_NAME_CHARACTERS)}…`,
        action: { type: 'sign-in', server: item.server },
      };
    case 'config-problem':
      return {
        key: 'config',
        label: sanitizeLabel(`Fix the configuration, ${item.problem}`, MAX_PROBLEM_CHARACTERS),
        action: { type: 'edit-config' },
      };
    case 'server-problem':
      return {
        key: `problem ${item.server}`,
        label: sanitizeLabel(
          `Fix ${sanitizeLabel(item.server, MAX_NAME_CHARACTERS)}: ${item.problem}`,
          MAX_PROBLEM_CHARACTERS,
        ),
        action: { type: 'open-dashboard', page: `/servers?server=${encodeURIComponent(item.server)}` },
      };
  }
}

/** Offers to allow the call only if the menu shows its arguments in full, so that a user never agrees to something unseen. */
function createHeldCallItem({ id, server, name, caller, arguments: args }: AdminHeldCall): MenuItem {
  const argumentText = JSON.stringify(args);
  const isShownInFull = sanitizeLabel(argumentText, MAX_ARGUMENT_CHARACTERS) === argumentText;
  const argumentItem: MenuItem = {
    key: `arguments ${id}`,
    label: argumentText === '{}' ? 'Without arguments' : argumentText,
  };
  const allow: MenuItem = {
    key: `allow ${id}`,
    label: 'Allow this call',
    action: { type: 'decide-call', call: id, decision: 'accept' },
  };
  const view: MenuItem = { key: `view ${id}`, label: 'View it in the dashboard…', action: OPEN_APPROVALS };
  const refuse: MenuItem = {
    key: `refuse ${id}`,
    label: 'Refuse it',
    action: { type: 'decide-call', call: id, decision: 'refuse' },
  };
  return {
    key: `call ${id}`,
    label: `${sanitizeLabel(caller, 30)} waits to call ${sanitizeLabel(`${server}: ${name}`, 60)}`,
    items: isShownInFull ? [argumentItem, allow, view, refuse] : [view, refuse],
  };
}

function createServersItem(servers: readonly AdminServer[]): MenuItem {
  const enabledCount = servers.filter(({ enabled }) => enabled).length;
  const items: MenuItem[] = servers.slice(0, MAX_SERVERS).map((server) => ({
    key: `server ${server.name}`,
    label: `${sanitizeLabel(server.name, MAX_NAME_CHARACTERS)}: ${describeServer(server)}`,
    isChecked: server.enabled,
    action: { type: 'set-enabled', server: server.name, isEnabled: !server.enabled },
  }));
  const hiddenCount = servers.length - MAX_SERVERS;
  if (hiddenCount > 0)
    items.push({
      key: 'more',
      label: `${hiddenCount} more…`,
      action: { type: 'open-dashboard', page: '/servers' },
    });
  if (servers.length === 0) items.push({ key: 'none', label: 'No servers yet' });
  return { key: 'servers', label: `Servers (${enabledCount} of ${servers.length} on)`, items };
}

/** Describes the state in words, because not everyone can tell colours apart. */
function describeServer({ enabled, state, tools, problem }: AdminServer): string {
  if (!enabled) return 'off';
  const descriptions: Readonly<Record<string, string>> = {
    ready: 'ready',
    idle: 'asleep',
    'needs-auth': 'sign-in needed',
    held: 'held for your approval',
    waiting: 'unreachable, will be retried',
    failed: 'failed',
  };
  const description = descriptions[state] ?? state;
  return problem === undefined ? `${description}, ${formatCount(tools, 'tool')}` : description;
}

function createCommandItems({ status }: GatewaySnapshot, edit: MenuItem): readonly MenuItem[] {
  const isPaused = status.pausedSince !== undefined;
  return [
    {
      key: 'add',
      label: 'Add a server…',
      action: { type: 'open-dashboard', page: '/servers?add=form' },
    },
    createSeparator('commands'),
    { key: 'dashboard', label: 'Open dashboard', action: { type: 'open-dashboard', page: '/' } },
    edit,
    { key: 'refresh', label: 'Re-index all tools', action: { type: 'refresh' } },
    isPaused
      ? { key: 'pause', label: 'Resume serving', action: { type: 'resume' } }
      : { key: 'pause', label: 'Pause serving', action: { type: 'pause' } },
  ];
}

function createSeparator(key: string): MenuItem {
  return { key: `separator ${key}`, label: '' };
}
