/** In the state folder; who is signed in to the dashboard, as hashes. */
export const SESSIONS_FILE = 'dashboard-sessions.json';
