import { describe, expect, test } from 'vitest';

import { safeName } from './saved.ts';

describe('a name for a file', () => {
  test.each([
    { wish: 'image-1', mimeType: 'image/png', is: 'image-1.png' },
    { wish: 'file:///a/b/report.pdf', mimeType: 'application/pdf', is: 'report.pdf' },
    { wish: 'file:///a/b/report.pdf?x=/../y', mimeType: undefined, is: 'y.bin' },
    { wish: '../../../../etc/passwd', mimeType: undefined, is: 'passwd.bin' },
    { wish: '..\\..\\evil.exe', mimeType: undefined, is: 'evil.exe' },
    { wish: '.bashrc', mimeType: 'text/plain', is: 'bashrc.txt' },
    { wish: '--help', mimeType: 'text/plain', is: 'help.txt' },
    { wish: '$(rm -rf ~)`x`;"\n', mimeType: 'text/plain; charset=utf-8', is: 'rm_-rf____x____.txt' },
    { wish: '', mimeType: 'Image/JPEG', is: 'content.jpg' },
    { wish: '...', mimeType: 'x/y', is: 'content.bin' },
    { wish: 'con.txt', mimeType: undefined, is: 'content.txt' },
    { wish: 'ünïcode', mimeType: undefined, is: 'n_code.bin' },
  ])('"$wish" becomes $is', ({ wish, mimeType, is }) => {
    const { stem, extension } = safeName(wish, mimeType);
    expect(stem + extension).toBe(is);
  });

  test('is never too long', () => {
    const { stem, extension } = safeName(`${'x'.repeat(5000)}.png`, undefined);
    expect((stem + extension).length).toBeLessThanOrEqual(100);
    expect(extension).toBe('.png');
  });
});
