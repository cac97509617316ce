import { NodeFS } from '@electric-sql/pglite/nodefs';

/** What Emscripten's file system for Node does with a mode. */
interface NodeOps {
  mknod: (parent: unknown, name: string, mode: number, device: number) => unknown;
  setattr: (node: unknown, attributes: { readonly mode?: number }) => unknown;
}

/** Without the rights of group and others; the kind of file stays. */
const forOwner = (mode: number): number => mode & ~0o077;

/**
 * PGlite's files on disk, for their owner alone. It sets the rights of some thousand files by itself to 0666, whatever the
 * umask, pg_hba.conf among them.
 */
export class PrivateFiles extends NodeFS {
  override async init(...[pg, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const made = await super.init(pg, options);
    const { preRun = [] } = made.emscriptenOpts;
    return { ...made, emscriptenOpts: { ...made.emscriptenOpts, preRun: [narrow, ...preRun] } };
  }
}

function narrow(module: object): void {
  const { node_ops: ops } = (module as { NODEFS: { node_ops: NodeOps } }).NODEFS;
  const { mknod, setattr } = ops;
  ops.mknod = (parent, name, mode, device) => mknod(parent, name, forOwner(mode), device);
  ops.setattr = (node, attributes) => {
    const { mode } = attributes;
    return setattr(node, mode === undefined ? attributes : { ...attributes, mode: forOwner(mode) });
  };
}
