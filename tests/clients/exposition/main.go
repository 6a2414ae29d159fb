// Reads what /metrics has answered with Prometheus' own parser: "families N series M", or why it is malformed. The argument is the form: text
// or delimited.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var forms = map[string]expfmt.Format{
	"text":      expfmt.NewFormat(expfmt.TypeTextPlain),
	"delimited": expfmt.NewFormat(expfmt.TypeProtoDelim),
}

func fail(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
	os.Exit(1)
}

// key is what tells a series from the others of its family.
func key(metric *dto.Metric) string {
	labels := model.LabelSet{}
	for _, pair := range metric.Label {
		labels[model.LabelName(pair.GetName())] = model.LabelValue(pair.GetValue())
	}
	return labels.String()
}

func checkBuckets(name string, histogram *dto.Histogram) {
	count, bound := uint64(0), math.Inf(-1)
	for _, bucket := range histogram.Bucket {
		if bucket.GetCumulativeCount() < count || bucket.GetUpperBound() <= bound {
			fail("%s: the bucket %v follows %v with %d after %d", name, bucket.GetUpperBound(), bound, bucket.GetCumulativeCount(), count)
		}
		count, bound = bucket.GetCumulativeCount(), bucket.GetUpperBound()
	}
	if count > histogram.GetSampleCount() {
		fail("%s: %d in buckets, %d in all", name, count, histogram.GetSampleCount())
	}
}

func check(family *dto.MetricFamily) {
	if family.GetHelp() == "" {
		fail("%s has no help", family.GetName())
	}
	seen := map[string]bool{}
	for _, metric := range family.Metric {
		if seen[key(metric)] {
			fail("%s%s comes twice", family.GetName(), key(metric))
		}
		seen[key(metric)] = true
		if metric.Histogram != nil {
			checkBuckets(family.GetName()+key(metric), metric.Histogram)
		}
	}
}

func main() {
	decoder := expfmt.NewDecoder(os.Stdin, forms[os.Args[1]])
	names, series := map[string]bool{}, 0
	for {
		family := &dto.MetricFamily{}
		if err := decoder.Decode(family); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fail("%v", err)
		}
		if names[family.GetName()] {
			fail("%s comes twice", family.GetName())
		}
		names[family.GetName()] = true
		series += len(family.Metric)
		check(family)
	}
	fmt.Printf("families %d series %d\n", len(names), series)
}
