import { Metrics } from '../../src/web/metrics.ts';

/** A metric as it is registered. */
export interface RegisteredMetric {
  readonly name: string;
  /** `counter`, `gauge` or `histogram`. */
  readonly type: string;
  readonly labels: readonly string[];
  /** What it counts, in a sentence. */
  readonly help: string;
}

/** Every metric of `start` and workers: the metrics that dashboards, alert rules and the reference may name. */
export function registeredMetrics(): RegisteredMetric[] {
  const { registry } = new Metrics({ version: '1', role: 'start' });
  return registry.getMetricsAsArray().map((metric) => {
    // The library's type lacks these.
    const { name, type, help, labelNames } = metric as unknown as {
      readonly name: string;
      readonly type?: string;
      readonly help: string;
      readonly labelNames?: readonly string[];
    };
    const kind = (type ?? metric.constructor.name).toLowerCase();
    return { name, type: kind, labels: labelNames ?? [], help };
  });
}
