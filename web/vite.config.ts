import { defineConfig } from 'vite';

import { fakeApi } from './fake/fake-api.ts';

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [fakeApi()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: false,
    target: 'es2022',
    // All pages form one small program, because separate files would cost more requests than they save.
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
