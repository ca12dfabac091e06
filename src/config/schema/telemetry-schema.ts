import { z } from 'zod';

import { duration } from './schema-parts.ts';

/** `telemetry`: traces and metrics for a collector. */
export const telemetrySchema = z
  .strictObject({
    endpoint: z
      .string()
      .prefault('')
      .describe(
        'Base address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`. Empty: that of `OTEL_EXPORTER_OTLP_ENDPOINT`, and without it nothing is sent.',
      ),
    headers: z
      .record(z.string(), z.string())
      .prefault({})
      .describe('HTTP headers that are sent to the collector; values may be references.'),
    interval: duration(100).prefault('10s').describe('How often traces and metrics are sent.'),
  })
  .prefault({})
  .describe('Traces and metrics over OTLP/HTTP.');

/** `metrics`: numbers for Prometheus. */
export const metricsSchema = z
  .boolean()
  .prefault(false)
  .describe('Whether `serve --http` answers `/metrics` for Prometheus.');
