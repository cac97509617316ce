import { z } from 'zod';

/*
 * What a person can have a running mirror do from its status page.
 */

/**
 * `look`: a look, or an incremental pass of one form. `compare`: row by row. `retry`: what failed, again. `accept`: deletions
 * that the brake withholds. `pause`, `resume`: a form, a target, everything. `alert`: a test through each channel.
 */
export const ACTIONS = ['look', 'compare', 'retry', 'accept', 'pause', 'resume', 'alert'] as const;
/** One of {@link ACTIONS}. */
export type ActionName = (typeof ACTIONS)[number];

/** What is to be done, where, and who wants it. */
export interface ActionOrder {
  readonly do: ActionName;
  /** ID, slug or name of a form; null: all. */
  readonly form: string | null;
  /** Name of a target; null: all. */
  readonly target: string | null;
  /** Of `accept`: how many deletions the person has seen, and accepts at most; null: those that are withheld now. */
  readonly count: number | null;
  /** Of `pause`: why. */
  readonly reason: string | null;
  /** Who and where: `status page, admin at 127.0.0.1`. */
  readonly by: string;
}

/** What was done, or could not be, as a line for people. */
export interface DoneLine {
  readonly ok: boolean;
  readonly text: string;
}

/** Carries actions out; the composition root provides it. */
export interface Actor {
  /** Rejects with USAGE for a form or target that does not exist; what fails otherwise is in the lines. Logs who did what. */
  act(order: ActionOrder): Promise<readonly DoneLine[]>;
}

const text = z.string().max(300);
const name = text.transform((value) => (value === '' ? null : value)).nullable();

/** An action as an address or a form asks for it. */
const wanted = {
  do: z.enum(ACTIONS),
  form: name.default(null),
  target: name.default(null),
};

/** The query of `GET /act`. */
export const actQuery = z.object(wanted);

const count = z.coerce.number().int().min(0).max(1_000_000_000);

/** What the form on that page sends. */
export const actForm = z.object({
  ...wanted,
  reason: name.default(null),
  count: z.preprocess(
    (value) => (value === '' ? undefined : value),
    count.nullable().default(null),
  ),
  token: z.string().max(200).default(''),
});
