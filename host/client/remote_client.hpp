// Calls to another server over TCP or a Unix socket, with TLS or without: HTTP/2 if the server speaks it, HTTP/1.1 otherwise, over
// pooled connections.
//
// max_connections limits the connections of ordinary calls; max_lasting_connections those of lasting calls.  Each loop may have one
// connection regardless of the limits.
// Thread-safety: call() on any executor.
// Lifetime:      the loops outlive the client; calls in progress fail when the client is destroyed.
// Errors:        kServiceUnavailable without a connection, kTimeout past a deadline.  An idempotent request, or one that the server has not
//                begun to process, is repeated once on another connection.  Messages are Go's: "dial tcp 10.0.0.1:443:
//                connect: connection refused", "tls: failed to verify certificate: x509: …", "context deadline exceeded", "EOF".
#pragma once

#include "backplane/net/client.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"

namespace backplane {

// Errors: kBadRequest for invalid certificates, keys and URLs.
// `tasks`: runs the tasks that send streamed bodies.  `callers`: a call that is made on one of these loops uses connections of that loop,
// so it stays on its thread.  Other calls use `loop`.
Result<std::shared_ptr<HttpClient>> make_remote_client(IoLoop& loop, TaskGroup& tasks, ClientConfig config, LoopPool* callers = nullptr);

}  // namespace backplane
