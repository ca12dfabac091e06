import type { IconName } from '../components/icon.tsx';

interface Page {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
}

/** The pages in the order of the navigation. */
export const pages: readonly Page[] = [
  { path: '/', title: 'Overview', icon: 'overview' },
  { path: '/servers', title: 'Servers', icon: 'servers' },
  { path: '/tools', title: 'Tools', icon: 'tools' },
  { path: '/approvals', title: 'Approvals', icon: 'approvals' },
  { path: '/clients', title: 'Clients', icon: 'clients' },
  { path: '/activity', title: 'Activity', icon: 'activity' },
  { path: '/access', title: 'Access', icon: 'access' },
];
