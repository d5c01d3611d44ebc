package otlp

import (
	"maps"
	"slices"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// A point has the latest values of one set of attributes of a metric. A process that starts again counts from 0, and a
// delta is only what was added, so values are kept for each start, and added up.
type point struct {
	metric, unit, kind, temporality string
	attributes                      map[string]any
	monotonic                       bool
	boundaries                      []float64
	starts                          map[uint64]amounts
}

type amounts struct {
	count   uint64
	sum     float64
	buckets []uint64
}

// addMetric adds the points of a metric.
func (c *Collection) addMetric(resource string, m *metricspb.Metric) {
	add := func(kind string, t metricspb.AggregationTemporality, attrs []*commonpb.KeyValue, start uint64, a amounts) *point {
		p := &point{
			metric: m.GetName(), unit: m.GetUnit(), kind: kind, attributes: attributes(attrs, 0), starts: map[uint64]amounts{},
			temporality: strings.ToLower(strings.TrimPrefix(t.String(), "AGGREGATION_TEMPORALITY_")),
		}
		key := string(encode([]any{p.metric, p.unit, p.kind, p.temporality, p.attributes, resource}))
		if c.points[key] == nil {
			c.points[key] = p
		}
		p = c.points[key]
		if len(p.starts) < MaxItems {
			p.starts[start] = a
		}
		return p
	}
	switch data := m.GetData().(type) {
	case *metricspb.Metric_Histogram:
		for _, d := range data.Histogram.GetDataPoints() {
			p := add("histogram", data.Histogram.GetAggregationTemporality(), d.GetAttributes(), d.GetStartTimeUnixNano(), amounts{d.GetCount(), d.GetSum(), d.GetBucketCounts()})
			p.boundaries = d.GetExplicitBounds()
		}
	case *metricspb.Metric_Sum:
		for _, d := range data.Sum.GetDataPoints() {
			p := add("sum", data.Sum.GetAggregationTemporality(), d.GetAttributes(), d.GetStartTimeUnixNano(), amounts{sum: number(d)})
			p.monotonic = data.Sum.GetIsMonotonic()
		}
	case *metricspb.Metric_Gauge:
		for _, d := range data.Gauge.GetDataPoints() {
			add("gauge", 0, d.GetAttributes(), 0, amounts{sum: number(d)})
		}
	case *metricspb.Metric_ExponentialHistogram:
		for _, d := range data.ExponentialHistogram.GetDataPoints() {
			add("exponential histogram", data.ExponentialHistogram.GetAggregationTemporality(), d.GetAttributes(), d.GetStartTimeUnixNano(), amounts{count: d.GetCount(), sum: d.GetSum()})
		}
	case *metricspb.Metric_Summary:
		for _, d := range data.Summary.GetDataPoints() {
			add("summary", 0, d.GetAttributes(), d.GetStartTimeUnixNano(), amounts{count: d.GetCount(), sum: d.GetSum()})
		}
	}
}

func number(d *metricspb.NumberDataPoint) float64 {
	if _, whole := d.GetValue().(*metricspb.NumberDataPoint_AsInt); whole {
		return float64(d.GetAsInt())
	}
	return d.GetAsDouble()
}

// metricItems returns the points, by the names of their metrics and their attributes.
func (c *Collection) metricItems() []Item {
	var out []Item
	for _, key := range slices.Sorted(maps.Keys(c.points)) {
		out = append(out, Item{Kind: "metric", JSON: encode(c.points[key].item())})
	}
	return out
}

// item returns a point. Sums and buckets of times are left out: they are never the same.
func (p *point) item() map[string]any {
	var all amounts
	for _, start := range slices.Sorted(maps.Keys(p.starts)) {
		a := p.starts[start]
		all.count += a.count
		all.sum += a.sum
		for i, n := range a.buckets {
			if i == len(all.buckets) {
				all.buckets = append(all.buckets, 0)
			}
			all.buckets[i] += n
		}
	}
	out := map[string]any{"metric": p.metric, "unit": p.unit, "type": p.kind, "attributes": p.attributes}
	if p.temporality != "unspecified" {
		out["temporality"] = p.temporality
	}
	isTime := slices.Contains([]string{"s", "ms", "us", "ns"}, p.unit)
	switch p.kind {
	case "sum", "gauge":
		out["value"] = plain(all.sum)
	default:
		out["count"] = all.count
		if !isTime {
			out["sum"] = plain(all.sum)
		}
	}
	if p.kind == "sum" {
		out["monotonic"] = p.monotonic
	}
	if p.kind == "histogram" {
		bounds := []any{}
		for _, b := range p.boundaries {
			bounds = append(bounds, plain(b))
		}
		out["boundaries"] = bounds
		if !isTime {
			out["buckets"] = all.buckets
		}
	}
	return out
}
