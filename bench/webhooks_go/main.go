// Writes through admission webhooks: serves two mutating and two validating webhooks over HTTPS, registers them, and creates config
// maps at a fixed rate.
//
//	go run . -kubeconfig FILE [-rate 1000] [-seconds 20] [-clients 32] [-pid SERVER]
//
// Prints writes, failed writes, calls of the webhooks, latencies in milliseconds and, with -pid, the server's CPU time for a write.
// A write fails unless it gets 201 and its object has the labels of both mutating webhooks.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const namespace = "webhook-load"

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

type object = map[string]any

// api calls a server with the client certificate of a kubeconfig file.
type api struct {
	server string
	http   *http.Client
}

func newAPI(file string, connections int) *api {
	text, err := os.ReadFile(file)
	must(err)
	field := func(name string) string {
		found := regexp.MustCompile(name + `: *(\S+)`).FindSubmatch(text)
		if found == nil {
			log.Fatalf("%s has no %s", file, name)
		}
		return string(found[1])
	}
	data := func(name string) []byte {
		decoded, err := base64.StdEncoding.DecodeString(field(name))
		must(err)
		return decoded
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(data("certificate-authority-data"))
	pair, err := tls.X509KeyPair(data("client-certificate-data"), data("client-key-data"))
	must(err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}},
		MaxIdleConnsPerHost: connections}
	return &api{field("server"), &http.Client{Transport: transport, Timeout: 40 * time.Second}}
}

func (a *api) call(method, path string, body any) (int, []byte) {
	encoded, err := json.Marshal(body)
	must(err)
	request, err := http.NewRequest(method, a.server+path, bytes.NewReader(encoded))
	must(err)
	request.Header.Set("Content-Type", "application/json")
	response, err := a.http.Do(request)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return response.StatusCode, answer
}

// serve starts the webhooks; a path is /mutate/NAME or /validate/NAME.
func serve(calls *atomic.Int64) (address string, ca []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "webhooks"}, NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	server := &http.Server{Handler: answerer(calls), TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}}
	go func() { must(server.ServeTLS(listener, "", "")) }()
	return listener.Addr().String(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func answerer(calls *atomic.Int64) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) {
		calls.Add(1)
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		response := object{"uid": review.Request.UID, "allowed": true}
		if name, mutates := strings.CutPrefix(request.URL.Path, "/mutate/"); mutates {
			response["patchType"] = "JSONPatch"
			response["patch"] = []byte(fmt.Sprintf(`[{"op":"add","path":"/metadata/labels/%s","value":"yes"}]`, name))
		}
		writer.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(writer).Encode(object{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
	}
}

func register(a *api, address string, ca []byte) {
	hook := func(path string) object {
		return object{"name": strings.ReplaceAll(path[1:], "/", "-") + ".load.example.com", "admissionReviewVersions": []string{"v1"}, "sideEffects": "None",
			"clientConfig":      object{"url": "https://" + address + path, "caBundle": ca},
			"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": namespace}},
			"rules":             []object{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE"}, "resources": []string{"configmaps"}}}}
	}
	for kind, hooks := range map[string][]object{"Mutating": {hook("/mutate/one"), hook("/mutate/two")}, "Validating": {hook("/validate/one"), hook("/validate/two")}} {
		path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(kind) + "webhookconfigurations"
		a.call("DELETE", path+"/load", nil)
		code, answer := a.call("POST", path, object{"metadata": object{"name": "load"}, "webhooks": hooks})
		if code != http.StatusCreated {
			log.Fatalf("%s: %d %s", path, code, answer)
		}
	}
}

func write(a *api, name string) error {
	code, answer := a.call("POST", "/api/v1/namespaces/"+namespace+"/configmaps", object{"metadata": object{"name": name, "labels": object{"load": "yes"}}, "data": object{"key": strings.Repeat("v", 500)}})
	if code != http.StatusCreated {
		return fmt.Errorf("%d %s", code, answer)
	}
	var created struct {
		Metadata struct{ Labels map[string]string }
	}
	if err := json.Unmarshal(answer, &created); err != nil || created.Metadata.Labels["one"] == "" || created.Metadata.Labels["two"] == "" {
		return fmt.Errorf("labels of the webhooks are missing: %s", answer)
	}
	return nil
}

// cpu: the CPU time of a process in microseconds (in Linux's ticks of 10 ms).
func cpu(pid int) int64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return (user + system) * 10_000
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the server's administrator")
	rate := flag.Int("rate", 1000, "writes a second; 0: as many as possible")
	seconds := flag.Int("seconds", 20, "length of the run")
	clients := flag.Int("clients", 32, "writes in flight at most")
	pid := flag.Int("pid", 0, "the server's process")
	flag.Parse()

	a := newAPI(*kubeconfig, *clients)
	var calls, failed atomic.Int64
	address, ca := serve(&calls)
	a.call("POST", "/api/v1/namespaces", object{"metadata": object{"name": namespace}})
	a.call("DELETE", "/api/v1/namespaces/"+namespace+"/configmaps", nil)
	register(a, address, ca)
	// The configurations reach the server's webhooks by watch.
	for deadline := time.Now().Add(30 * time.Second); write(a, fmt.Sprintf("first-%d", time.Now().UnixNano())) != nil; {
		if time.Now().After(deadline) {
			log.Fatal("the webhooks are not called")
		}
	}

	var before int64
	if *pid != 0 {
		before = cpu(*pid)
	}
	calls.Store(0)
	tickets := make(chan time.Time, *rate**seconds+1)
	var mutex sync.Mutex
	var latencies []float64
	var group sync.WaitGroup
	start := time.Now()
	run := fmt.Sprintf("run-%d-", start.UnixNano())
	var next atomic.Int64
	for range *clients {
		group.Go(func() {
			for due := range tickets {
				err := write(a, run+strconv.FormatInt(next.Add(1), 10))
				if err != nil && failed.Add(1) <= 3 {
					log.Print(err)
				}
				mutex.Lock()
				latencies = append(latencies, time.Since(due).Seconds()*1000)
				mutex.Unlock()
			}
		})
	}
	end := start.Add(time.Duration(*seconds) * time.Second)
	for made := 0; time.Now().Before(end); made++ {
		if *rate == 0 {
			tickets <- time.Now()
			continue
		}
		due := start.Add(time.Duration(made) * time.Second / time.Duration(*rate))
		time.Sleep(time.Until(due))
		tickets <- due
	}
	close(tickets)
	group.Wait()
	took := time.Since(start).Seconds()
	sort.Float64s(latencies)
	at := func(share float64) float64 { return latencies[int(share*float64(len(latencies)-1))] }
	fmt.Printf("writes=%d failed=%d calls=%d writes_s=%.0f p50_ms=%.1f p99_ms=%.1f max_ms=%.1f", len(latencies), failed.Load(), calls.Load(), float64(len(latencies))/took, at(0.5), at(0.99), at(1))
	if *pid != 0 {
		fmt.Printf(" server_cpu_us=%.0f", float64(cpu(*pid)-before)/float64(len(latencies)))
	}
	fmt.Println()
	for _, kind := range []string{"mutating", "validating"} {
		a.call("DELETE", "/apis/admissionregistration.k8s.io/v1/"+kind+"webhookconfigurations/load", nil)
	}
	if failed.Load() > 0 {
		os.Exit(1)
	}
}
