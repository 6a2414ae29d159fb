// Calls to another server over TCP or a Unix socket, with TLS or without: HTTP/2 if the server speaks it, HTTP/1.1 otherwise, over a few
// connections that are kept.
//
// max_connections bounds the connections of calls that come to an end by themselves; those that lasting calls keep are bounded apart.  A
// loop may always have one connection of its own.
// Thread-safety: call() on any executor.
// Lifetime:      the loops outlive the client; calls in flight end with an error when it goes.
// Errors:        kServiceUnavailable when there is no connection to be had, kTimeout past a deadline.  A request that repeats safely, or
// that
//                the server has not begun with, is tried once more on another connection.  Messages are Go's: "dial tcp 10.0.0.1:443:
//                connect: connection refused", "tls: failed to verify certificate: x509: …", "context deadline exceeded", "EOF".
#pragma once

#include "backplane/net/client.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"

namespace backplane {

// Errors: kBadRequest for certificates, keys and URLs that are none.
// `tasks`: for bodies that are made while they are sent.  `callers`: loops with connections of their own for calls that are made on them:
// such a call never leaves its thread.  Other calls go to `loop`.
Result<std::shared_ptr<HttpClient>> make_remote_client(IoLoop& loop, TaskGroup& tasks, ClientConfig config, LoopPool* callers = nullptr);

}  // namespace backplane
