// Calls to another server over TCP or a Unix socket, with or without TLS. HTTP/2 is used if the server supports it, HTTP/1.1 otherwise.
// Connections are pooled.
//
// ClientConfig::max_connections limits the connections of each loop, except those that only lasting calls use; 0 counts as 1.
// max_lasting_connections limits the connections that only lasting calls use, in all loops together.
// Thread-safety: call() may be called on any executor.
// Lifetime:      the loops outlive the client. Calls in progress fail when the client is destroyed.
// Errors:        kServiceUnavailable if there is no connection, kTimeout after a deadline, kTooManyRequests beyond max_lasting_connections.
//                A call is repeated once on another connection if its request is idempotent and unanswered, or if the server has refused
//                it. Messages are Go's: "dial tcp 10.0.0.1:443: connect: connection refused", "tls: failed to verify certificate: x509: …",
//                "context deadline exceeded", "EOF".
#pragma once

#include "backplane/net/client.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"

namespace backplane {

// Errors:        kBadRequest for invalid certificates, keys and URLs.
// `tasks`: runs the tasks that send streamed bodies.
// `callers`: a call that is made on one of these loops uses connections of that loop, so that the call stays on its thread. Other calls use
// `loop`.
Result<std::shared_ptr<HttpClient>> make_remote_client(IoLoop& loop, TaskGroup& tasks, ClientConfig config, LoopPool* callers = nullptr);

}  // namespace backplane
