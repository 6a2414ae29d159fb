// A collector of OTLP over gRPC, of the published protocol's own Go module: writes each span as a line of JSON.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"sync"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/grpc"
)

type event struct {
	Name       string         `json:"name"`
	Attributes map[string]any `json:"attributes"`
}

type span struct {
	Trace      string         `json:"trace"`
	Span       string         `json:"span"`
	Parent     string         `json:"parent"`
	State      string         `json:"state"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind"`
	Scope      string         `json:"scope"`
	Begin      uint64         `json:"begin"`
	End        uint64         `json:"end"`
	Failed     bool           `json:"failed"`
	Attributes map[string]any `json:"attributes"`
	Resource   map[string]any `json:"resource"`
	Events     []event        `json:"events"`
	Links      []string       `json:"links"`
}

func values(pairs []*common.KeyValue) map[string]any {
	out := map[string]any{}
	for _, pair := range pairs {
		switch value := pair.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[pair.Key] = value.StringValue
		case *common.AnyValue_IntValue:
			out[pair.Key] = value.IntValue
		case *common.AnyValue_BoolValue:
			out[pair.Key] = value.BoolValue
		}
	}
	return out
}

type receiver struct {
	collector.UnimplementedTraceServiceServer
	mutex sync.Mutex
	lines *json.Encoder
}

func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, each := range scope.Spans {
				line := span{
					Trace: hex.EncodeToString(each.TraceId), Span: hex.EncodeToString(each.SpanId), Parent: hex.EncodeToString(each.ParentSpanId),
					State: each.TraceState, Name: each.Name, Kind: each.Kind.String(), Scope: scope.Scope.GetName(),
					Begin: each.StartTimeUnixNano, End: each.EndTimeUnixNano, Failed: each.Status.GetCode() == 2,
					Attributes: values(each.Attributes), Resource: values(resource.Resource.GetAttributes()),
				}
				for _, happened := range each.Events {
					line.Events = append(line.Events, event{happened.Name, values(happened.Attributes)})
				}
				for _, link := range each.Links {
					line.Links = append(line.Links, hex.EncodeToString(link.TraceId)+"-"+hex.EncodeToString(link.SpanId))
				}
				if err := r.lines.Encode(line); err != nil {
					return nil, err
				}
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().String())
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, &receiver{lines: json.NewEncoder(os.Stdout)})
	log.Fatal(server.Serve(listener))
}
