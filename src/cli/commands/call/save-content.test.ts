import { describe, expect, test } from 'vitest';

import { toSafeFileName } from './save-content.ts';

describe('file name of saved content', () => {
  test.each([
    { nameHint: 'image-1', mimeType: 'image/png', is: 'image-1.png' },
    { nameHint: 'file:///a/b/report.pdf', mimeType: 'application/pdf', is: 'report.pdf' },
    { nameHint: 'file:///a/b/report.pdf?x=/../y', mimeType: undefined, is: 'y.bin' },
    { nameHint: '../../../../etc/passwd', mimeType: undefined, is: 'passwd.bin' },
    { nameHint: '..\\..\\evil.exe', mimeType: undefined, is: 'evil.exe' },
    { nameHint: '.bashrc', mimeType: 'text/plain', is: 'bashrc.txt' },
    { nameHint: '--help', mimeType: 'text/plain', is: 'help.txt' },
    { nameHint: '$(rm -rf ~)`x`;"\n', mimeType: 'text/plain; charset=utf-8', is: 'rm_-rf____x____.txt' },
    { nameHint: '', mimeType: 'Image/JPEG', is: 'content.jpg' },
    { nameHint: '...', mimeType: 'x/y', is: 'content.bin' },
    { nameHint: 'con.txt', mimeType: undefined, is: 'content.txt' },
    { nameHint: 'ünïcode', mimeType: undefined, is: 'n_code.bin' },
  ])('file name: turns "$nameHint" into $is', ({ nameHint, mimeType, is }) => {
    const { stem, extension } = toSafeFileName(nameHint, mimeType);
    expect(stem + extension).toBe(is);
  });

  test('file name: is at most 100 characters long and keeps the extension', () => {
    const { stem, extension } = toSafeFileName(`${'x'.repeat(5000)}.png`, undefined);
    expect((stem + extension).length).toBeLessThanOrEqual(100);
    expect(extension).toBe('.png');
  });
});
