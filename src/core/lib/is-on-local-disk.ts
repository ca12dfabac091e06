import { statfs } from 'node:fs/promises';

/**
 * Linux file system types for which inotify reports every change. On other types, it may miss changes by a network peer or by the host of a
 * container.
 */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58_46_53_42, // xfs
  0x91_23_68_3e, // btrfs
  0x2f_c1_2f_c1, // zfs
  0xf2_f5_20_10, // f2fs
  0xca_45_1a_4e, // bcachefs
  0x01_02_19_94, // tmpfs
  0x79_4c_76_30, // overlayfs
]);

/** Whether a path is known to be on a local disk or in memory. Returns false on systems other than Linux, because their types differ. */
export async function isOnLocalDisk(path: string): Promise<boolean> {
  try {
    return LOCAL_TYPES.has((await statfs(path)).type);
  } catch {
    return false;
  }
}
