import { ValueType, type Histogram, type Meter } from '@opentelemetry/api'

/** The metrics of the server (T18). */
export interface Instruments {
  requests: Histogram
  calls: Histogram
  tokens: Histogram
}

export function instrumentsOf(meter: Meter): Instruments {
  const seconds = (name: string, explicitBucketBoundaries: number[]): Histogram => meter.createHistogram(name, { unit: 's', advice: { explicitBucketBoundaries } })
  return {
    requests: seconds('http.server.request.duration', [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]),
    calls: seconds('gen_ai.client.operation.duration', doubled(0.01, 2)),
    tokens: meter.createHistogram('gen_ai.client.token.usage', {
      unit: '{token}',
      valueType: ValueType.INT,
      advice: { explicitBucketBoundaries: doubled(1, 4) },
    }),
  }
}

/** Fourteen boundaries. The numbers of T18 have no more digits than this. */
function doubled(first: number, factor: number): number[] {
  return Array.from({ length: 14 }, (_, power) => Number((first * factor ** power).toFixed(2)))
}
