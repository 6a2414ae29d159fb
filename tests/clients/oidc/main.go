// An OpenID provider for the tests: github.com/oauth2-proxy/mockoidc over TLS, controlled by lines on standard input.
//
// It prints one JSON object first (issuer, client and its secret), and "ok" after each command:
//
//	user {"Subject": …}   the user of the next authorization
//	rotate                a new signing key; the former one is no longer published
//	forward 11m           its clock is so much later from now on
//	client NAME           the client that its tokens are for
package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/oauth2-proxy/mockoidc"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(certificate, key string) error {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return err
	}
	provider, err := mockoidc.NewServer(nil)
	if err != nil {
		return err
	}
	var lock sync.Mutex
	err = provider.AddMiddleware(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			lock.Lock()
			defer lock.Unlock()
			next.ServeHTTP(writer, request)
		})
	})
	if err != nil {
		return err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := provider.Start(tls.NewListener(listener, config), config); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(provider.Config()); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		lock.Lock()
		err := obey(provider, lines.Text())
		lock.Unlock()
		if err != nil {
			return err
		}
		fmt.Println("ok")
	}
	return lines.Err()
}

func obey(provider *mockoidc.MockOIDC, line string) error {
	command, rest, _ := strings.Cut(line, " ")
	switch command {
	case "user":
		user := &mockoidc.MockUser{}
		if err := json.Unmarshal([]byte(rest), user); err != nil {
			return err
		}
		provider.QueueUser(user)
	case "rotate":
		pair, err := mockoidc.RandomKeypair(2048)
		if err != nil {
			return err
		}
		provider.Keypair = pair
	case "forward":
		span, err := time.ParseDuration(rest)
		if err != nil {
			return err
		}
		provider.FastForward(span)
	case "client":
		provider.ClientID = rest
	default:
		return fmt.Errorf("unknown command %q", line)
	}
	return nil
}
